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
  /// - Parameter output: of ``decodedCount(_:)`` bytes.
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
    var others = 0
    for index in text.indices { others &+= value(of: text[index]) < 0 ? 1 : 0 }
    guard others == 0 else { return false }
    // The bits of the last character that stand for no byte are 0.
    let unused: Int32 = text.count % 4 == 2 ? 0x0F : text.count % 4 == 3 ? 0x03 : 0
    return unused == 0 || value(of: text[text.count - 1]) & unused == 0
  }

  /// What a character stands for, found without a branch or a table; -1 for one that is not of the alphabet.
  private static func value(of character: UInt8) -> Int32 {
    let character = Int32(character)
    /// All ones where the character is in a range, else 0.
    func mask(_ first: Int32, _ last: Int32) -> Int32 { ((first - 1 - character) & (character - last - 1)) >> 31 }
    return -1 + (mask(65, 90) & (character - 64)) + (mask(97, 122) & (character - 70)) + (mask(48, 57) & (character + 5))
      + (mask(45, 45) & 63) + (mask(95, 95) & 64)
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
