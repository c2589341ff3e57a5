import SecretMemory

/// The base 32 of RFC 4648, section 6, in which authenticator apps take their secrets.
enum Base32 {
  private static let bitsOfCharacter = 5

  /// Encodes a secret in capital letters and without padding, as key URIs have it.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  static func encode(_ secret: Secret) throws(SecretMemoryExhausted) -> Secret {
    let count = (8 * secret.byteCount + bitsOfCharacter - 1) / bitsOfCharacter
    return try Secret(byteCount: count) { text in
      secret.withBytes { bytes in
        for position in 0..<count { text[position] = character(group(bytes, at: position)) }
      }
    }
  }

  /// The five bits for a character, zeros behind the last byte.
  private static func group(_ bytes: Span<UInt8>, at position: Int) -> UInt8 {
    let bit = position * bitsOfCharacter
    let first = UInt16(bytes[bit / 8]) << 8
    let pair = bit / 8 + 1 < bytes.count ? first | UInt16(bytes[bit / 8 + 1]) : first
    return UInt8(truncatingIfNeeded: pair >> UInt16(16 - bitsOfCharacter - bit % 8)) & 31
  }

  private static func character(_ value: UInt8) -> UInt8 {
    value < 26 ? UInt8(ascii: "A") + value : UInt8(ascii: "2") + value - 26
  }
}
