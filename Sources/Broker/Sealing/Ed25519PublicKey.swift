import CSodium

/// The public half of an ``Ed25519SigningKey``: says whether a signature was made with it (RFC 8032).
package struct Ed25519PublicKey: Sendable, Hashable {
  /// How many bytes a public key has.
  package static let byteCount = 32

  /// The 32 bytes.
  package let bytes: [UInt8]

  /// Reads a public key.
  ///
  /// - Throws: `SealingError.malformed` unless there are 32 bytes. Whether they are a point of the curve shows when a
  ///   signature is verified.
  package init(bytes: Span<UInt8>) throws(SealingError) {
    guard bytes.count == Self.byteCount else { throw .malformed }
    self.bytes = bytes.indices.map { bytes[$0] }
  }

  /// Whether a signature of a message was made with this key.
  ///
  /// Strict, as libsodium is: it refuses signatures that are not in canonical form, and keys of small order.
  package func isValid(signature: Span<UInt8>, for message: Span<UInt8>) -> Bool {
    guard signature.count == Ed25519SigningKey.signatureByteCount else { return false }
    // The fixed lengths are checked, here and by `init`; all pointers live until the closures return, at each level.
    return unsafe signature.withCBytes { signature, _ in
      unsafe message.withCBytes { message, messageCount in
        unsafe bytes.span.withCBytes { key, _ in
          unsafe crypto_sign_verify_detached(
            signature, message, UInt64(messageCount), key) == 0
        }
      }
    }
  }
}
