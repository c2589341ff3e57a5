import CSodium
package import SecretMemory

/// A key that signs: Ed25519 (RFC 8032, libsodium's `crypto_sign`).
package struct Ed25519SigningKey: Sendable {
  /// How many bytes the seed has that everything follows from.
  package static let seedByteCount = 32
  /// How many bytes a signature has.
  package static let signatureByteCount = 64

  /// The public key, which verifies its signatures.
  package let publicKey: Ed25519PublicKey

  /// Seed and public key together, as libsodium wants them.
  private let expanded: Secret

  /// A new random key.
  ///
  /// - Throws: `SealingError.secretMemoryExhausted`.
  package static func random() throws(SealingError) -> Ed25519SigningKey {
    try Ed25519SigningKey(seed: RandomBytes.secret(count: seedByteCount))
  }

  /// The key that belongs to a seed, which RFC 8032 calls the private key.
  ///
  /// - Throws: `SealingError.malformed` unless there are 32 bytes, `.secretMemoryExhausted`.
  package init(seed: Secret) throws(SealingError) {
    guard seed.byteCount == Self.seedByteCount else { throw .malformed }
    var publicBytes = [UInt8](repeating: 0, count: Ed25519PublicKey.byteCount)
    var publicSpan = publicBytes.mutableSpan
    do {
      expanded = try Secret(byteCount: 64) { expanded in
        seed.withBytes { Self.expand(seed: $0, into: &expanded, publicBytes: &publicSpan) }
      }
    } catch { throw .secretMemoryExhausted }
    publicKey = try Ed25519PublicKey(bytes: publicBytes.span)
  }

  /// Lends the seed: for sealing the key.
  ///
  /// - Throws: what `body` throws.
  package func withSeed<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    try expanded.withBytes { bytes throws(E) in try body(bytes.extracting(first: Self.seedByteCount)) }
  }

  /// The signature of a message: 64 bytes, always the same for the same message.
  package func sign(_ message: Span<UInt8>) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Self.signatureByteCount)
    var span = signature.mutableSpan
    expanded.withBytes { key in
      // The lengths are fixed above, and all pointers live until the closures return; the same holds for each level.
      let status = unsafe span.withMutableCBytes { signature, _ in
        unsafe message.withCBytes { message, messageCount in
          unsafe key.withCBytes { key, _ in
            unsafe crypto_sign_detached(
              signature, nil, message, UInt64(messageCount), key)
          }
        }
      }
      precondition(status == 0, "signing fails for no message")
    }
    return signature
  }

  private static func expand(
    seed: Span<UInt8>, into expanded: inout MutableSpan<UInt8>, publicBytes: inout MutableSpan<UInt8>
  ) {
    // The callers give 32, 64 and 32 bytes; all pointers live until the closures return, at each level.
    let status = unsafe expanded.withMutableCBytes { expanded, _ in
      unsafe publicBytes.withMutableCBytes { publicBytes, _ in
        unsafe seed.withCBytes { seed, _ in
          unsafe crypto_sign_seed_keypair(publicBytes, expanded, seed)
        }
      }
    }
    precondition(status == 0, "every seed has a key")
  }
}
