import CSodium
package import SecretMemory

/// Base64 with the URL-safe alphabet and without padding (RFC 4648, section 5), in constant time for its length.
package enum Base64URL {
  private static let variant = Int32(sodium_base64_VARIANT_URLSAFE_NO_PADDING)

  /// The ASCII characters that stand for some bytes.
  package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
    // libsodium also writes a NUL, which its count includes.
    var text = [UInt8](repeating: 0, count: sodium_base64_encoded_len(bytes.count, variant))
    var output = text.mutableSpan
    // Both pointers go with their own lengths and live until the closures return; the same holds for each level.
    unsafe output.withMutableCBytes { output, outputCount in
      unsafe bytes.withCBytes { bytes, bytesCount in
        // Characters and bytes have the same layout.
        let characters = unsafe UnsafeMutableRawPointer(output).assumingMemoryBound(to: CChar.self)
        // As above.
        _ = unsafe sodium_bin2base64(characters, outputCount, bytes, bytesCount, variant)
      }
    }
    text.removeLast()
    return text
  }

  /// The bytes that some ASCII characters stand for.
  ///
  /// - Throws: `SealingError.malformed` when a character is not of the alphabet (padding and white space are not), or
  ///   the text is not what ``encode(_:)`` makes of any bytes.
  package static func decode(_ text: Span<UInt8>) throws(SealingError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: decodedCount(text.count))
    var output = bytes.mutableSpan
    try fill(&output, from: text)
    return bytes
  }

  /// As ``decode(_:)``, straight into locked memory.
  ///
  /// - Throws: `SealingError.malformed` as there, `.secretMemoryExhausted`.
  package static func decodeSecret(_ text: Span<UInt8>) throws(SealingError) -> Secret {
    try Secret.filling(byteCount: decodedCount(text.count)) { output throws(SealingError) in
      try fill(&output, from: text)
    }
  }

  /// As ``decode(_:)``, into memory of the caller's choice.
  ///
  /// - Parameters:
  ///   - text: the characters.
  ///   - output: of ``decodedCount(_:)`` bytes.
  /// - Throws: `SealingError.malformed` as there.
  package static func decode(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) throws(SealingError) {
    guard output.count == decodedCount(text.count) else { throw .malformed }
    try fill(&output, from: text)
  }

  /// How many bytes so many characters stand for: four for three bytes; of the rest, two for one and three for two.
  package static func decodedCount(_ characterCount: Int) -> Int {
    characterCount / 4 * 3 + characterCount % 4 * 3 / 4
  }

  /// Whether ``decode(_:)`` takes a text, in constant time for its length.
  package static func isEncoding(_ text: Span<UInt8>) -> Bool {
    guard text.count % 4 != 1 else { return false }
    // The span vouches for the pointer and its length, and outlives the call; without an index, whole words are compared.
    let isOfAlphabet = unsafe text.withUnsafeBufferPointer { text in
      unsafe text.reduce(UInt8(1)) { $0 & mark($1) } == 1
    }
    guard isOfAlphabet else { return false }
    // The bits of the last character that stand for no byte are 0.
    switch text.count % 4 {
    case 2: return value(of: text[text.count - 1]) & 0x0F == 0
    case 3: return value(of: text[text.count - 1]) & 0x03 == 0
    default: return true
    }
  }

  /// 1 for a character of the alphabet, else 0, found without a branch or a table.
  private static func mark(_ character: UInt8) -> UInt8 {
    isIn(character, 0x41, count: 26) | isIn(character, 0x61, count: 26) | isIn(character, 0x30, count: 10)
      | isIn(character, 0x2D, count: 1) | isIn(character, 0x5F, count: 1)
  }

  /// What a character of the alphabet stands for, found without a branch or a table.
  private static func value(of character: UInt8) -> UInt8 {
    isIn(character, 0x41, count: 26) &* (character &- 0x41)
      | isIn(character, 0x61, count: 26) &* (character &- 0x61 &+ 26)
      | isIn(character, 0x30, count: 10) &* (character &- 0x30 &+ 52) | isIn(character, 0x2D, count: 1) &* 62
      | isIn(character, 0x5F, count: 1) &* 63
  }

  /// 1 for a character of a range, else 0.
  private static func isIn(_ character: UInt8, _ first: UInt8, count: UInt8) -> UInt8 {
    character &- first < count ? 1 : 0
  }

  private static func fill(_ output: inout MutableSpan<UInt8>, from text: Span<UInt8>) throws(SealingError) {
    guard text.count % 4 != 1 else { throw .malformed }
    var written = 0
    // Both pointers go with their own lengths and live until the closures return; the same holds for each level.
    let status = unsafe output.withMutableCBytes { output, outputCount in
      unsafe text.withCBytes { text, textCount in
        // Characters and bytes have the same layout.
        let characters = unsafe UnsafeRawPointer(text).assumingMemoryBound(to: CChar.self)
        // As above.
        return unsafe sodium_base642bin(output, outputCount, characters, textCount, nil, &written, nil, variant)
      }
    }
    guard status == 0, written == output.count else { throw .malformed }
  }
}
