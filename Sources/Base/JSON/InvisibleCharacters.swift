/// Characters that a terminal obeys or hides: controls, format characters, line and paragraph separators (Unicode's
/// general categories Cc, Cf, Zl and Zp).
public enum InvisibleCharacters {
  /// Their ranges above ASCII, in order (Unicode 16.0); a test compares them with what the standard library knows.
  static let ranges: [ClosedRange<UInt32>] = [
    0x7F...0x9F, 0xAD...0xAD, 0x600...0x605, 0x61C...0x61C, 0x6DD...0x6DD, 0x70F...0x70F, 0x890...0x891, 0x8E2...0x8E2,
    0x180E...0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2064, 0x2066...0x206F, 0xFEFF...0xFEFF,
    0xFFF9...0xFFFB, 0x110BD...0x110BD, 0x110CD...0x110CD, 0x13430...0x1343F, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A,
    0xE0001...0xE0001, 0xE0020...0xE007F,
  ]

  /// Writes them as escapes in a JSON text, where they can stand in strings alone; its meaning stays (RFC 8259, section 7).
  ///
  /// - Parameter json: a JSON text in UTF-8.
  /// - Returns: the same text, or one in which a reader sees every character.
  public static func escaped(in json: consuming [UInt8]) -> [UInt8] {
    // Most texts are of visible ASCII, and nothing is copied of them: they may hold a secret.
    guard json.contains(where: { $0 >= 0x7F }) else { return json }
    var writer = JSONWriter()
    let bytes = json
    var index = 0
    while index < bytes.count {
      let length = length(of: bytes[index])
      let end = min(index + length, bytes.count)
      if let scalar = scalar(bytes[index..<end]), ranges.contains(where: { $0.contains(scalar.value) }) {
        for unit in scalar.utf16 { writer.escape(unit) }
      } else {
        writer.put(bytes.span.extracting(index..<end))
      }
      index = end
    }
    return writer.bytes
  }

  /// The bytes of the sequence that a byte begins (RFC 3629, section 3).
  private static func length(of first: UInt8) -> Int {
    switch first {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }

  private static func scalar(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard let first = bytes.first, first >= 0x7F else { return nil }
    let mask: UInt32 = bytes.count == 1 ? 0x7F : bytes.count == 2 ? 0x1F : bytes.count == 3 ? 0xF : 0x7
    return Unicode.Scalar(bytes.dropFirst().reduce(UInt32(first) & mask) { $0 << 6 | UInt32($1 & 0x3F) })
  }
}
