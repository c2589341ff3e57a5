package import SecretMemory

/// An envelope that keeps a secret at rest: authenticated, bound to its place, naming the key it needs.
///
/// ```
/// u8 version = 1 ‖ u8 algorithm = 1 ‖ 16 bytes key identifier ‖ 24 bytes nonce ‖ ciphertext ‖ 16 bytes tag
/// ```
/// Algorithm 1 is XChaCha20-Poly1305-IETF: its nonces are long enough to be drawn at random. The first 18 bytes
/// are authenticated along with the associated data. The cipher does not commit to a key, so the key identifier is
/// compared before anything is decrypted.
package enum SealedBox {
  private static let version: UInt8 = 1
  private static let algorithm: UInt8 = 1
  private static let headerByteCount = 2 + SealingKey.ID.byteCount
  private static let prefixByteCount = headerByteCount + XChaCha20Poly1305.nonceByteCount

  /// By how much a box is longer than what is in it.
  package static let overheadByteCount = prefixByteCount + XChaCha20Poly1305.tagByteCount

  /// Seals bytes under a key, with a new random nonce.
  ///
  /// - Parameters:
  ///   - plaintext: may be empty; stays the caller's to wipe.
  ///   - context: what the box is bound to.
  ///   - key: named in the box.
  /// - Returns: the box.
  package static func seal(_ plaintext: Span<UInt8>, context: AssociatedData, key: SealingKey) -> [UInt8] {
    seal(plaintext, context: context, key: key, nonce: RandomBytes.array(count: XChaCha20Poly1305.nonceByteCount))
  }

  /// Opens a box.
  ///
  /// - Returns: what was sealed, decrypted straight into locked memory.
  /// - Throws: `SealingError.malformed` when it is too short to be a box, `.unsupportedFormat`, `.wrongKey`,
  ///   `.notAuthentic` when a byte of it or of the context differs, `.secretMemoryExhausted`.
  package static func open(
    _ box: Span<UInt8>, context: AssociatedData, key: SealingKey
  ) throws(SealingError) -> Secret {
    guard box.count >= overheadByteCount else { throw .malformed }
    return try Secret.filling(byteCount: box.count - overheadByteCount) { output throws(SealingError) in
      try open(box, context: context, key: key, into: &output)
    }
  }

  /// Opens a box into memory of the caller's choice.
  ///
  /// - Parameters:
  ///   - box: what was sealed.
  ///   - context: what the box is bound to.
  ///   - key: the one that it names.
  ///   - output: shorter than the box by ``overheadByteCount``; zeroes where the box does not open.
  /// - Throws: as the other way, but never `.secretMemoryExhausted`.
  package static func open(
    _ box: Span<UInt8>, context: AssociatedData, key: SealingKey, into output: inout MutableSpan<UInt8>
  ) throws(SealingError) {
    guard try isNamed(key.id, in: box) else { throw .wrongKey }
    guard output.count == box.count - overheadByteCount else { throw .malformed }
    let header = box.extracting(first: headerByteCount)
    let nonce = box.extracting(headerByteCount..<prefixByteCount)
    let sealed = box.extracting(droppingFirst: prefixByteCount)
    let associatedData = context.bound(to: header)
    let isAuthentic = key.secret.withBytes { key in
      XChaCha20Poly1305.decrypt(sealed, associatedData: associatedData.span, nonce: nonce, key: key, into: &output)
    }
    guard isAuthentic else { throw .notAuthentic }
  }

  /// Whether a box says that it needs a key.
  private static func isNamed(_ id: SealingKey.ID, in box: Span<UInt8>) throws(SealingError) -> Bool {
    try requireFormat(of: box)
    return id.bytes.indices.allSatisfy { id.bytes[$0] == box[2 + $0] }
  }

  private static func requireFormat(of box: Span<UInt8>) throws(SealingError) {
    guard box.count >= overheadByteCount else { throw .malformed }
    guard box[0] == version, box[1] == algorithm else { throw .unsupportedFormat }
  }

  /// Returns the key that a box names; not authenticated until the box is opened.
  ///
  /// - Throws: `SealingError.malformed` when it is too short to be a box, `.unsupportedFormat`.
  package static func keyID(of box: Span<UInt8>) throws(SealingError) -> SealingKey.ID {
    try requireFormat(of: box)
    return try SealingKey.ID(bytes: (2..<headerByteCount).map { box[$0] })
  }

  /// As the public way, with a nonce of the caller's choice: for known-answer tests only, a nonce is never used twice.
  static func seal(
    _ plaintext: Span<UInt8>, context: AssociatedData, key: SealingKey, nonce: [UInt8]
  ) -> [UInt8] {
    let header = [version, algorithm] + key.id.bytes
    let associatedData = context.bound(to: header.span)
    var sealed = [UInt8](repeating: 0, count: plaintext.count + XChaCha20Poly1305.tagByteCount)
    var output = sealed.mutableSpan
    key.secret.withBytes { key in
      XChaCha20Poly1305.encrypt(
        plaintext, associatedData: associatedData.span, nonce: nonce.span, key: key, into: &output)
    }
    return header + nonce + sealed
  }
}

extension AssociatedData {
  /// The encoding with the box's own header as the last field.
  fileprivate func bound(to header: Span<UInt8>) -> [UInt8] {
    var bound = self
    bound.append(header)
    return bound.bytes
  }
}
