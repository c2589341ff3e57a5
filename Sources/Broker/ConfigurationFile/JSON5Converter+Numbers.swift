/// Numbers (https://spec.json5.org/#numbers).
extension JSON5Converter {
  /// Converts a number that begins at the current position.
  mutating func number() throws(JSON5Error) {
    let start = position
    if source[position] == UInt8(ascii: "-") { output.append(UInt8(ascii: "-")) }
    if source[position] == UInt8(ascii: "-") || source[position] == UInt8(ascii: "+") { position += 1 }
    guard position < source.count else { throw JSON5Error("a number is malformed", at: start) }
    if Self.isIdentifierStart(source[position]) { return try wordNumber(start) }
    if source[position] == 0x30, position + 1 < source.count, source[position + 1] | 0x20 == UInt8(ascii: "x") {
      position += 2
      return try hexadecimalNumber(start)
    }
    try decimalNumber(start)
  }

  private func wordNumber(_ start: Int) throws(JSON5Error) {
    throw JSON5Error("a number is malformed; Infinity and NaN mean nothing in a configuration", at: start)
  }

  private mutating func hexadecimalNumber(_ start: Int) throws(JSON5Error) {
    var value: UInt64 = 0
    let digits = position
    while let digit = hexadecimal(at: position) {
      guard value >> 59 == 0 else { throw JSON5Error("a number is out of range", at: start) }
      value = value << 4 | UInt64(digit)
      position += 1
    }
    guard position > digits, !continues() else { throw JSON5Error("a number is malformed", at: start) }
    output += Array(String(value).utf8)
  }

  private mutating func decimalNumber(_ start: Int) throws(JSON5Error) {
    let whole = digits()
    output += whole.isEmpty ? [0x30] : whole
    var fraction: [UInt8] = []
    if position < source.count, source[position] == UInt8(ascii: ".") {
      position += 1
      fraction = digits()
      if !fraction.isEmpty { output += [UInt8(ascii: ".")] + fraction }
    }
    guard !whole.isEmpty || !fraction.isEmpty else { throw JSON5Error("a number is malformed", at: start) }
    if position < source.count, source[position] | 0x20 == UInt8(ascii: "e") {
      output.append(UInt8(ascii: "e"))
      position += 1
      if position < source.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(source[position]) {
        output.append(source[position])
        position += 1
      }
      output += digits()
    }
    guard !continues() else { throw JSON5Error("a number is malformed", at: start) }
  }

  private mutating func digits() -> [UInt8] {
    let start = position
    while position < source.count, (0x30...0x39).contains(source[position]) { position += 1 }
    return Array(source[start..<position])
  }

  /// Whether the next character would make another number, or a word, of what was read.
  private func continues() -> Bool {
    guard position < source.count else { return false }
    let byte = source[position]
    return Self.isIdentifierStart(byte) || (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E].contains(byte)
  }
}
