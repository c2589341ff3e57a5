import SecretMemory

/// The base 32 of RFC 4648, section 6, in which authenticator apps take their secrets.
enum Base32 {
  private static let bitsOfCharacter = 5
  /// How many characters a group of five bytes has; what `=` fills up.
  private static let groupCount = 8

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

  /// Decodes what a person may have copied: small letters count as capitals, blanks and the padding may be there or not.
  ///
  /// - Returns: nil for another character, for padding that is not at the end, and for a length or last bits that no
  ///   bytes have.
  /// - Throws: `SecretMemoryExhausted`.
  static func decode(_ text: Secret) throws(SecretMemoryExhausted) -> Secret? {
    guard let count = text.withBytes(characterCount), [0, 2, 4, 5, 7].contains(count % groupCount) else { return nil }
    let byteCount = count * bitsOfCharacter / 8
    var rest: UInt32 = 0
    let decoded = try Secret(byteCount: byteCount) { output in
      text.withBytes { rest = decode($0, into: &output) }
    }
    return rest == 0 ? decoded : nil
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

  private static func value(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a")
    case UInt8(ascii: "2")...UInt8(ascii: "7"): character - UInt8(ascii: "2") + 26
    default: nil
    }
  }

  private static func isBlank(_ character: UInt8) -> Bool { character == 0x20 || (0x09...0x0D).contains(character) }

  /// How many characters stand for bits; nil where there is any other than those, blanks and padding at the end.
  private static func characterCount(_ text: Span<UInt8>) -> Int? {
    var count = 0
    var isPadded = false
    for index in text.indices where !isBlank(text[index]) {
      if text[index] == UInt8(ascii: "=") {
        isPadded = true
      } else {
        guard !isPadded, value(text[index]) != nil else { return nil }
        count += 1
      }
    }
    return count
  }

  /// Writes the bytes.
  ///
  /// - Returns: the bits that remain, zeros unless the text is malformed.
  private static func decode(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> UInt32 {
    var (bits, bitCount, written) = (UInt32(0), 0, 0)
    for index in text.indices {
      guard let value = value(text[index]) else { continue }
      bits = bits << UInt32(bitsOfCharacter) | UInt32(value)
      bitCount += bitsOfCharacter
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      output[written] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
      bits &= (1 << UInt32(bitCount)) - 1
      written += 1
    }
    return bits
  }
}
