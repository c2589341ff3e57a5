/// Strings (https://spec.json5.org/#strings).
extension JSON5Converter {
  /// Converts a string whose opening quote is at the current position.
  mutating func string(quote: UInt8) throws(JSON5Error) {
    let start = position
    position += 1
    output.append(UInt8(ascii: "\""))
    while true {
      let plain = position
      while position < source.count, Self.isPlain(source[position], quote) { position += 1 }
      output += source[plain..<position]
      guard position < source.count else { throw JSON5Error("a string is not closed", at: start) }
      let byte = source[position]
      if byte == quote { break }
      switch byte {
      case 0x0A, 0x0D: throw JSON5Error("a string is not closed before the end of its line", at: start)
      case UInt8(ascii: "\\"): try escape()
      case UInt8(ascii: "\""):
        output += [UInt8(ascii: "\\"), byte]
        position += 1
      default:
        unicodeEscape(byte)
        position += 1
      }
    }
    position += 1
    output.append(UInt8(ascii: "\""))
  }

  /// Whether a byte of a string stands in JSON as it stands in JSON5: no control character, no backslash, no quote.
  private static func isPlain(_ byte: UInt8, _ quote: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "\"") && byte != quote
  }

  private mutating func escape() throws(JSON5Error) {
    let start = position
    guard start + 1 < source.count else { throw JSON5Error("a string is not closed", at: start) }
    let lineEnd = lineEndLength(at: start + 1)
    if lineEnd > 0 {
      position += 1 + lineEnd
      return
    }
    position += 2
    switch source[start + 1] {
    case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"),
      UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "u"):
      // As in JSON; the digits of \u and its surrogates are the strict scanner's business.
      output += source[start..<position]
    case UInt8(ascii: "v"): unicodeEscape(0x0B)
    case UInt8(ascii: "0") where !(position < source.count && (0x30...0x39).contains(source[position])):
      unicodeEscape(0)
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      throw JSON5Error("an escape with a digit must be written \\x or \\u", at: start)
    case UInt8(ascii: "x"):
      guard let high = hexadecimal(at: position), let low = hexadecimal(at: position + 1) else {
        throw JSON5Error("\\x must be followed by two hexadecimal digits", at: start)
      }
      unicodeEscape(high << 4 | low)
      position += 2
    default:
      // Any other character stands for itself; its further bytes follow by themselves.
      output.append(source[start + 1])
    }
  }

  private mutating func unicodeEscape(_ value: UInt8) {
    let digits = Array("0123456789abcdef".utf8)
    output += Array("\\u00".utf8) + [digits[Int(value >> 4)], digits[Int(value & 0xF)]]
  }

  /// The value of the hexadecimal digit at `place`; nil where there is none.
  func hexadecimal(at place: Int) -> UInt8? {
    guard place < source.count else { return nil }
    switch source[place] {
    case let digit where (0x30...0x39).contains(digit): return digit - 0x30
    case let digit where (0x61...0x66).contains(digit | 0x20): return (digit | 0x20) - 0x61 + 10
    default: return nil
    }
  }
}
