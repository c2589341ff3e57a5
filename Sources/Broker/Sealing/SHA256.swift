import CSodium

/// SHA-256 (FIPS 180-4, libsodium's `crypto_hash_sha256`), for protocols that want it and no other.
///
/// What is hashed for this program's own purposes goes through ``KeyedHash``.
package enum SHA256 {
  /// How many bytes a digest has.
  package static let byteCount = 32

  /// Hashes a message.
  ///
  /// - Parameter message: of any length.
  /// - Returns: the digest.
  package static func digest(of message: Span<UInt8>) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: byteCount)
    var output = digest.mutableSpan
    // The digest has the 32 bytes that are written; both pointers live until the closures return, at each level.
    let status = unsafe output.withMutableCBytes { output, _ in
      unsafe message.withCBytes { message, messageCount in
        unsafe crypto_hash_sha256(output, message, UInt64(messageCount))
      }
    }
    precondition(status == 0, "SHA-256 fails for no input")
    return digest
  }
}
