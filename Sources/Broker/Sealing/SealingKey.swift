package import SecretMemory

/// A 256-bit key that boxes are sealed under, with the identifier that a box names it by.
package struct SealingKey: Sendable {
  /// How many bytes a key has.
  package static let byteCount = XChaCha20Poly1305.keyByteCount

  /// The key's identifier; not secret.
  package let id: ID

  /// The key's bytes: for wrapping it under another key.
  package let secret: Secret

  /// A new random key.
  ///
  /// - Throws: `SealingError.secretMemoryExhausted`.
  package static func random() throws(SealingError) -> SealingKey {
    try SealingKey(RandomBytes.secret(count: byteCount))
  }

  /// A key from bytes that are copied.
  ///
  /// - Throws: `SealingError.malformed` unless there are 32, `.secretMemoryExhausted`.
  package init(copying bytes: Span<UInt8>) throws(SealingError) {
    do { try self.init(Secret(copying: bytes)) } catch let error as SealingError { throw error } catch {
      throw .secretMemoryExhausted
    }
  }

  /// A key from a secret, such as a box that held a wrapped key.
  ///
  /// - Throws: `SealingError.malformed` unless there are 32 bytes.
  package init(_ secret: Secret) throws(SealingError) {
    guard secret.byteCount == Self.byteCount else { throw .malformed }
    self.secret = secret
    id = ID(of: secret)
  }

  /// Names a key without revealing anything of it: BLAKE2b-128 of a label, keyed with the key (RFC 7693).
  package struct ID: Sendable, Hashable {
    /// How many bytes an identifier has: too many for two keys to share one by chance.
    static let byteCount = 16

    /// The 16 bytes.
    package let bytes: [UInt8]

    /// Reads an identifier that was stored.
    ///
    /// - Throws: `SealingError.malformed` unless there are 16 bytes.
    package init(bytes: [UInt8]) throws(SealingError) {
      guard bytes.count == Self.byteCount else { throw .malformed }
      self.bytes = bytes
    }

    fileprivate init(of key: Secret) {
      let label = Array("AuthBroker sealing key identifier 1".utf8)
      bytes = KeyedHash.digest(of: label.span, key: key, count: Self.byteCount)
    }
  }
}
