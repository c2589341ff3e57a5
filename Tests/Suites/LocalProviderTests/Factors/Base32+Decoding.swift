import SecretMemory

@testable import LocalProvider

/// What an authenticator app does with the secret in an enrolment's address.
extension Base32 {
  private static let characterBitCount = 5
  /// How many characters a group of five bytes has; what `=` fills up.
  private static let groupCount = 8

  /// Decodes what a person may have copied: small letters count as capitals, blanks and the padding may be there or not.
  ///
  /// - Returns: nil for another character, for padding that is not at the end, and for a length or last bits that no
  ///   bytes have.
  /// - Throws: `SecretMemoryExhausted`.
  static func decode(_ text: Secret) throws(SecretMemoryExhausted) -> Secret? {
    guard let count = text.withBytes(characterCount), [0, 2, 4, 5, 7].contains(count % groupCount) else { return nil }
    let byteCount = count * characterBitCount / 8
    var rest: UInt32 = 0
    let decoded = try Secret(byteCount: byteCount) { output in
      text.withBytes { rest = decode($0, into: &output) }
    }
    return rest == 0 ? decoded : nil
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
      bits = bits << UInt32(characterBitCount) | UInt32(value)
      bitCount += characterBitCount
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      output[written] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
      bits &= (1 << UInt32(bitCount)) - 1
      written += 1
    }
    return bits
  }
}
