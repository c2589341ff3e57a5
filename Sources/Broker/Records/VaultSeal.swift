package import Sealing
package import SecretMemory

/// Seals and opens the values of one vault under its data key.
package struct VaultSeal: Sendable {
  /// The data key.
  package let key: SealingKey
  /// The vault's own random identifier: no other vault's value opens here.
  package let vaultID: [UInt8]

  /// A seal under a data key.
  package init(key: SealingKey, vaultID: [UInt8]) {
    self.key = key
    self.vaultID = vaultID
  }

  /// Seals bytes for one place.
  package func seal(_ plaintext: Span<UInt8>, at place: SealedPlace) -> [UInt8] {
    SealedBox.seal(plaintext, context: place.associatedData(vaultID: vaultID, key: key.id), key: key)
  }

  /// Opens a box that was sealed for a place.
  ///
  /// - Throws: `SealingError`.
  package func open(_ box: Span<UInt8>, at place: SealedPlace) throws(SealingError) -> Secret {
    try SealedBox.open(box, context: place.associatedData(vaultID: vaultID, key: key.id), key: key)
  }

  /// Opens what was sealed for a place, into memory of the caller's choice.
  ///
  /// - Parameters:
  ///   - box: what was sealed.
  ///   - place: where it belongs.
  ///   - output: as long as what was sealed.
  /// - Returns: whether the box is what was sealed for this place under this key.
  package func open(_ box: Span<UInt8>, at place: SealedPlace, into output: inout MutableSpan<UInt8>) -> Bool {
    let context = place.associatedData(vaultID: vaultID, key: key.id)
    return (try? SealedBox.open(box, context: context, key: key, into: &output)) != nil
  }

  /// Opens contents of any length into ordinary memory: what is no secret of the broker's, such as a request.
  ///
  /// - Returns: nil for what was not sealed for this place under this key.
  package func openOrdinary(_ box: Span<UInt8>, at place: SealedPlace) -> [UInt8]? {
    guard box.count >= SealedBox.overheadByteCount else { return nil }
    var bytes = [UInt8](repeating: 0, count: box.count - SealedBox.overheadByteCount)
    var output = bytes.mutableSpan
    return open(box, at: place, into: &output) ? bytes : nil
  }

  /// Opens contents that are no secret in themselves, such as a list of names.
  ///
  /// - Throws: `SealingError`.
  package func openBytes(_ box: Span<UInt8>, at place: SealedPlace) throws(SealingError) -> [UInt8] {
    try open(box, at: place).withBytes { bytes in bytes.indices.map { bytes[$0] } }
  }
}

/// A row whose box was opened.
package struct OpenedRow {
  /// The place that the box is bound to, as the row says and the seal confirms.
  package let place: SealedPlace
  /// The opened contents.
  package let plaintext: Secret
  /// The seal that opened it.
  package let seal: VaultSeal

  /// A row that a seal has opened.
  package init(place: SealedPlace, plaintext: Secret, seal: VaultSeal) {
    self.place = place
    self.plaintext = plaintext
    self.seal = seal
  }

  /// The row's name.
  package var name: String { place.row }
}
