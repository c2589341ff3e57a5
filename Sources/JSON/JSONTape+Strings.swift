/// Strings: UTF-8 (RFC 3629), escapes and surrogate pairs (RFC 8259, section 7).
extension JSONTape {
  /// Scans a string whose opening quote is at `position`.
  mutating func string(_ text: Span<UInt8>, _ position: inout Int) throws(JSONError) {
    position += 1
    let start = position
    var escaped = false
    while true {
      guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
      let byte = text[position]
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        escaped = true
        try Self.escape(text, &position)
      } else if byte < 0x20 {
        throw JSONError(.controlCharacter, at: position)
      } else if byte < 0x80 {
        position += 1
      } else {
        position += try Self.multibyteLength(text, position)
      }
    }
    guard position - start <= limits.stringBytes else { throw JSONError(.stringTooLong, at: start) }
    appendLeaf(escaped ? .escapedString : .string, start, position)
    position += 1
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
