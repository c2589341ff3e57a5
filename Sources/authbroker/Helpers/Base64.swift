/// Base64 with padding (RFC 4648, section 4).
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// How many characters so many bytes become.
  static func length(of byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

  /// Appends the characters of some bytes, which may be a secret: `text` has room for them, so that it is not moved.
  static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var group: UInt32 = 0
      for place in 0..<3 {
        group = group << 8 | (place < count ? UInt32(bytes[index + place]) : 0)
      }
      for place in 0..<4 {
        let digit = alphabet[Int(group >> UInt32(18 - 6 * place) & 0x3F)]
        text.append(place <= count ? digit : UInt8(ascii: "="))
      }
      index += 3
    }
  }

  /// The bytes that characters of one of the two alphabets stand for (RFC 4648, sections 4 and 5).
  ///
  /// - Parameter text: characters without white space; padding may be missing.
  /// - Returns: bytes that the caller wipes; nil for a character of neither alphabet.
  static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3 + 3)
    var (group, bits) = (UInt32(0), 0)
    for character in text where character != UInt8(ascii: "=") {
      let plain: UInt8 =
        switch character {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: character
        }
      guard let digit = alphabet.firstIndex(of: plain) else { return nil }
      (group, bits) = (group << 6 & 0xFF_FFFF | UInt32(digit), bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(group >> UInt32(bits) & 0xFF))
    }
    return bytes
  }
}
