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
}
