import CSodium

/// The bare cipher under ``SealedBox``: XChaCha20-Poly1305-IETF (draft-irtf-cfrg-xchacha-03, libsodium's
/// `crypto_aead_xchacha20poly1305_ietf`).
///
/// Lengths are the caller's duty, so they are preconditions.
enum XChaCha20Poly1305 {
  /// The length of a key.
  static let keyByteCount = 32
  /// The length of a nonce: enough for drawing it at random.
  static let nonceByteCount = 24
  /// By how much the output is longer than the plaintext.
  static let tagByteCount = 16

  /// Writes ciphertext and tag.
  ///
  /// - Parameters:
  ///   - plaintext: of any length.
  ///   - associatedData: authenticated, not contained.
  ///   - nonce: 24 bytes, used once under a key.
  ///   - key: 32 bytes.
  ///   - output: as long as the plaintext and the tag together.
  static func encrypt(
    _ plaintext: Span<UInt8>, associatedData: Span<UInt8>, nonce: Span<UInt8>, key: Span<UInt8>,
    into output: inout MutableSpan<UInt8>
  ) {
    precondition(key.count == keyByteCount && nonce.count == nonceByteCount, "key and nonce have their fixed lengths")
    precondition(output.count == plaintext.count + tagByteCount, "the output holds ciphertext and tag")
    // All lengths are checked above and all pointers live until the closures return; the same holds for each level.
    let status = unsafe output.withMutableCBytes { output, _ in
      unsafe plaintext.withCBytes { plaintext, plaintextCount in
        unsafe associatedData.withCBytes { associatedData, associatedDataCount in
          unsafe nonce.withCBytes { nonce, _ in
            unsafe key.withCBytes { key, _ in
              unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                output, nil, plaintext, UInt64(plaintextCount), associatedData,
                UInt64(associatedDataCount), nil, nonce, key)
            }
          }
        }
      }
    }
    precondition(status == 0, "encryption fails for no input")
  }

  /// Writes the plaintext, if ciphertext, tag and associated data are authentic; zeroes otherwise.
  ///
  /// - Parameters:
  ///   - sealed: ciphertext and tag; at least a tag.
  ///   - associatedData: authenticated, not contained.
  ///   - nonce: 24 bytes, used once under a key.
  ///   - key: 32 bytes.
  ///   - output: as long as the ciphertext without the tag.
  /// - Returns: whether they are authentic.
  static func decrypt(
    _ sealed: Span<UInt8>, associatedData: Span<UInt8>, nonce: Span<UInt8>, key: Span<UInt8>,
    into output: inout MutableSpan<UInt8>
  ) -> Bool {
    precondition(key.count == keyByteCount && nonce.count == nonceByteCount, "key and nonce have their fixed lengths")
    precondition(output.count + tagByteCount == sealed.count, "the output holds the plaintext")
    // All lengths are checked above and all pointers live until the closures return; the same holds for each level.
    return unsafe output.withMutableCBytes { output, _ in
      unsafe sealed.withCBytes { sealed, sealedCount in
        unsafe associatedData.withCBytes { associatedData, associatedDataCount in
          unsafe nonce.withCBytes { nonce, _ in
            unsafe key.withCBytes { key, _ in
              unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                output, nil, nil, sealed, UInt64(sealedCount), associatedData,
                UInt64(associatedDataCount), nonce, key) == 0
            }
          }
        }
      }
    }
  }
}
