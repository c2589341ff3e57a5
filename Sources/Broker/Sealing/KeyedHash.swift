import CSodium
package import SecretMemory

/// A keyed hash for look-ups, check values and sub-keys: BLAKE2b (RFC 7693, libsodium's `crypto_generichash`).
///
/// With a key it is a pseudo-random function and a message authentication code. Messages of different purposes begin
/// with different labels.
package struct KeyedHash: Sendable {
  /// The accepted lengths of a key: RFC 7693 allows up to 64 bytes, fewer than 16 protect nothing.
  package static let keyByteCounts = 16...64
  /// The accepted lengths of a digest.
  package static let digestByteCounts = 1...64

  private let key: Secret

  /// A hash under a key.
  ///
  /// - Throws: `SealingError.malformed` when the key's length is not in ``keyByteCounts``.
  package init(key: Secret) throws(SealingError) {
    guard Self.keyByteCounts.contains(key.byteCount) else { throw .malformed }
    self.key = key
  }

  /// Hashes a message under the key.
  ///
  /// - Parameters:
  ///   - message: of any length.
  ///   - count: the digest's length in bytes, in ``digestByteCounts``.
  /// - Returns: the digest; not secret, though it cannot be computed without the key.
  package func digest(of message: Span<UInt8>, count: Int = 32) -> [UInt8] {
    Self.digest(of: message, key: key, count: count)
  }

  /// Whether a digest is that of a message, compared in constant time.
  package func isValid(_ digest: Span<UInt8>, for message: Span<UInt8>) -> Bool {
    guard Self.digestByteCounts.contains(digest.count) else { return false }
    let expected = self.digest(of: message, count: digest.count)
    // Both buffers have the length that is given, and live until the closures return.
    return unsafe digest.withUnsafeBytes { digest in
      // As above.
      unsafe expected.withUnsafeBytes { unsafe sodium_memcmp($0.baseAddress, digest.baseAddress, digest.count) == 0 }
    }
  }

  /// Hashes a message to a digest that is itself a secret: how a sub-key is derived from a key and a label.
  ///
  /// - Parameters:
  ///   - message: the label.
  ///   - count: the digest's length in bytes, in ``digestByteCounts``.
  /// - Returns: the digest, computed straight into locked memory.
  /// - Throws: `SealingError.secretMemoryExhausted`.
  package func secretDigest(of message: Span<UInt8>, count: Int = 32) throws(SealingError) -> Secret {
    do {
      return try Secret(byteCount: count) { output in
        key.withBytes { Self.digest(of: message, key: $0, into: &output) }
      }
    } catch { throw .secretMemoryExhausted }
  }

  /// Hashes a message without a key.
  ///
  /// - Parameters:
  ///   - message: of any length.
  ///   - count: the digest's length in bytes, in ``digestByteCounts``.
  /// - Returns: a fingerprint that anybody can compute.
  package static func unkeyedDigest(of message: Span<UInt8>, count: Int = 32) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: count)
    var output = digest.mutableSpan
    Self.digest(of: message, key: Span(), into: &output)
    return digest
  }

  /// As the other ways, for a key whose length is known to be right.
  static func digest(of message: Span<UInt8>, key: Secret, count: Int) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: count)
    var output = digest.mutableSpan
    key.withBytes { Self.digest(of: message, key: $0, into: &output) }
    return digest
  }

  /// libsodium's BLAKE2b leaves words of the message and of the key on the stack: its frames, with the state and two
  /// blocks, have less than this.
  private static let stackUse = 4096

  private static func digest(of message: Span<UInt8>, key: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
    precondition(digestByteCounts.contains(output.count), "a BLAKE2b digest has 1 to 64 bytes")
    // All pointers live until the closures return, and go with their own lengths; the same holds for each level.
    let status = unsafe output.withMutableCBytes { output, outputCount in
      unsafe message.withCBytes { message, messageCount in
        unsafe key.withCBytes { key, keyCount in
          let status = unsafe crypto_generichash(
            output, outputCount, message, UInt64(messageCount), key, keyCount)
          sodium_stackzero(stackUse)
          return status
        }
      }
    }
    precondition(status == 0, "BLAKE2b fails for no input of these lengths")
  }
}
