/// Strings: UTF-8 (RFC 3629), escapes and surrogate pairs (RFC 8259, section 7).
extension JSONScanner {
  /// Scans a string whose opening quote is at `position`.
  @inline(__always)
  mutating func string(_ text: Span<UInt8>, _ entries: inout MutableSpan<JSONTape.Entry>) throws(JSONError) {
    let start = position + 1
    var end = text.firstSpecial(from: start)
    var kind = JSONTape.Kind.string
    while end == text.count || text[end] != UInt8(ascii: "\"") {
      try Self.special(text, &end, &kind)
      end = text.firstSpecial(from: end)
    }
    guard end - start <= limits.stringBytes else { throw JSONError(.stringTooLong, at: start) }
    append(kind, start, end, &entries)
    position = end + 1
  }

  /// Scans an escape, or a character of several bytes.
  private static func special(
    _ text: Span<UInt8>, _ position: inout Int, _ kind: inout JSONTape.Kind
  ) throws(JSONError) {
    guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
    guard text[position] >= 0x20 else { throw JSONError(.controlCharacter, at: position) }
    if text[position] == UInt8(ascii: "\\") {
      kind = .escapedString
      return try escape(text, &position)
    }
    while position < text.count, text[position] >= 0x80 { position += try multibyteLength(text, position) }
  }

  /// Scans an escape at `position`; the second half of a surrogate pair belongs to it.
  private static func escape(_ text: Span<UInt8>, _ position: inout Int) throws(JSONError) {
    let start = position
    guard position + 1 < text.count else { throw JSONError(.unexpectedEnd, at: text.count) }
    position += 2
    switch text[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return
    case UInt8(ascii: "u"):
      let unit = try hexadecimalUnit(text, &position)
      guard (0xD800...0xDFFF).contains(unit) else { return }
      guard unit < 0xDC00 else { throw JSONError(.loneSurrogate, at: start) }
      guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
      guard text[position] == UInt8(ascii: "\\") else { throw JSONError(.loneSurrogate, at: start) }
      guard position + 1 < text.count else { throw JSONError(.unexpectedEnd, at: text.count) }
      guard text[position + 1] == UInt8(ascii: "u") else { throw JSONError(.loneSurrogate, at: start) }
      position += 2
      guard (0xDC00...0xDFFF).contains(try hexadecimalUnit(text, &position)) else {
        throw JSONError(.loneSurrogate, at: start)
      }
    default: throw JSONError(.invalidEscape, at: start)
    }
  }

  /// Reads the four digits of a `\u` escape.
  static func hexadecimalUnit(_ text: Span<UInt8>, _ position: inout Int) throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
      switch text[position] {
      case let digit where digit >= UInt8(ascii: "0") && digit <= UInt8(ascii: "9"):
        unit = unit << 4 | UInt32(digit - UInt8(ascii: "0"))
      case let digit where digit | 0x20 >= UInt8(ascii: "a") && digit | 0x20 <= UInt8(ascii: "f"):
        unit = unit << 4 | UInt32((digit | 0x20) - UInt8(ascii: "a") + 10)
      default: throw JSONError(.invalidEscape, at: position)
      }
      position += 1
    }
    return unit
  }

  /// How many bytes the multi-byte character at `position` has, by the table of RFC 3629, section 4.
  private static func multibyteLength(_ text: Span<UInt8>, _ position: Int) throws(JSONError) -> Int {
    let second: ClosedRange<UInt8>
    let length: Int
    switch text[position] {
    case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
    case 0xE0: (second, length) = (0xA0...0xBF, 3)
    case 0xED: (second, length) = (0x80...0x9F, 3)
    case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
    case 0xF0: (second, length) = (0x90...0xBF, 4)
    case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
    case 0xF4: (second, length) = (0x80...0x8F, 4)
    default: throw JSONError(.invalidUTF8, at: position)
    }
    for offset in 1..<length {
      guard position + offset < text.count else { throw JSONError(.unexpectedEnd, at: text.count) }
      let allowed = offset == 1 ? second : 0x80...0xBF
      guard allowed.contains(text[position + offset]) else { throw JSONError(.invalidUTF8, at: position) }
    }
    return length
  }
}

extension Span<UInt8> {
  /// The position of the next byte that is not plain inside a string: a quote, a backslash, a control character, or a
  /// byte beyond ASCII; the count where there is none.
  @inline(__always)
  fileprivate func firstSpecial(from start: Int) -> Int {
    var position = start
    while position + 8 <= count {
      let word = word(at: position)
      // In each byte the highest bit is set where it is below 0x20, a quote (0x22), a backslash (0x5C), or above 0x7F. A
      // borrow out of a byte spoils only those above it, and the lowest one counts.
      let controls = word &- 0x2020_2020_2020_2020
      let quotes = (word ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101
      let escapes = (word ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
      let special = (controls | quotes | escapes | word) & 0x8080_8080_8080_8080
      if special != 0 { return position + special.trailingZeroBitCount >> 3 }
      position += 8
    }
    while position < count {
      let byte = self[position]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte >= 0x80 { break }
      position += 1
    }
    return position
  }
}
