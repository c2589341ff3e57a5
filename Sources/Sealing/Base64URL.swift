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
    try decode(text, into: &output)
    return bytes
  }

  /// As ``decode(_:)``, straight into locked memory.
  ///
  /// - Throws: `SealingError.malformed` as there, `.secretMemoryExhausted`.
  package static func decodeSecret(_ text: Span<UInt8>) throws(SealingError) -> Secret {
    try Secret.filling(byteCount: decodedCount(text.count)) { output throws(SealingError) in
      try decode(text, into: &output)
    }
  }

  /// Four characters stand for three bytes; of the rest, two stand for one and three for two.
  private static func decodedCount(_ characterCount: Int) -> Int {
    characterCount / 4 * 3 + characterCount % 4 * 3 / 4
  }

  private static func decode(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) throws(SealingError) {
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
