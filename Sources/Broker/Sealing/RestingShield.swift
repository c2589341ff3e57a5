import SecretMemory

/// Encrypts what rests in the memory of this process: XChaCha20-Poly1305 under a random key that is kept nowhere else.
final class RestingShield: SecretShield {
  private let key: Secret

  /// A shield with a key of its own.
  ///
  /// - Throws: `SealingError.secretMemoryExhausted`.
  init() throws(SealingError) {
    key = try RandomBytes.secret(count: XChaCha20Poly1305.keyByteCount)
  }

  func close(_ bytes: Span<UInt8>) -> [UInt8] {
    // Long enough to be drawn at random for each secret.
    var box = RandomBytes.array(count: XChaCha20Poly1305.nonceByteCount)
    var sealed = [UInt8](repeating: 0, count: bytes.count + XChaCha20Poly1305.tagByteCount)
    var output = sealed.mutableSpan
    key.withBytes { key in
      XChaCha20Poly1305.encrypt(bytes, associatedData: Span(), nonce: box.span, key: key, into: &output)
    }
    box.reserveCapacity(box.count + sealed.count)
    box += sealed
    return box
  }

  func open(_ box: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Bool {
    key.withBytes { key in
      XChaCha20Poly1305.decrypt(
        box.extracting(droppingFirst: XChaCha20Poly1305.nonceByteCount), associatedData: Span(),
        nonce: box.extracting(first: XChaCha20Poly1305.nonceByteCount), key: key, into: &output)
    }
  }
}
