import Sealing
import SecretMemory

/// Seals and opens the values of one vault under its data key.
struct VaultSeal: Sendable {
  /// The data key.
  let key: SealingKey
  /// The vault's own random identifier: no other vault's value opens here.
  let vaultID: [UInt8]

  /// Seals bytes for one place.
  func seal(_ plaintext: Span<UInt8>, at place: SealedPlace) -> [UInt8] {
    SealedBox.seal(plaintext, context: place.associatedData(vaultID: vaultID, key: key.id), key: key)
  }

  /// Opens what was sealed for a place.
  ///
  /// - Throws: `SealingError`.
  func open(_ box: Span<UInt8>, at place: SealedPlace) throws(SealingError) -> Secret {
    try SealedBox.open(box, context: place.associatedData(vaultID: vaultID, key: key.id), key: key)
  }

  /// Opens what was sealed for a place, into memory of the caller's choice.
  ///
  /// - Parameters:
  ///   - box: what was sealed.
  ///   - place: where it belongs.
  ///   - output: as long as what was sealed.
  /// - Returns: whether the box is what was sealed for this place under this key.
  func open(_ box: Span<UInt8>, at place: SealedPlace, into output: inout MutableSpan<UInt8>) -> Bool {
    let context = place.associatedData(vaultID: vaultID, key: key.id)
    return (try? SealedBox.open(box, context: context, key: key, into: &output)) != nil
  }

  /// Opens what is no secret in itself, such as a list of names.
  ///
  /// - Throws: `SealingError`.
  func openBytes(_ box: Span<UInt8>, at place: SealedPlace) throws(SealingError) -> [UInt8] {
    try open(box, at: place).withBytes { bytes in bytes.indices.map { bytes[$0] } }
  }
}
