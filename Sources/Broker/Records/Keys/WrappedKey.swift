package import BrokerProtocol
package import Sealing
import SecretMemory

/// The vault's data key as it is stored: sealed under a key-encryption key.
///
/// The box is bound to its table, to the vault, to the data key's identifier and to the source and derivation of the
/// key-encryption key; so none of that can be exchanged, and no other vault's box put in its place.
package struct WrappedKey: Sendable, Equatable {
  /// The data key in the box.
  package let dataKeyID: SealingKey.ID
  /// The source of the key-encryption key.
  package let source: KeySourceName
  /// The parameters of its derivation; nil for a key file.
  package let derivation: KeyDerivation.Parameters?
  /// The sealed data key.
  package let box: [UInt8]

  /// How many bytes the vault's own random identifier has.
  package static let vaultIDByteCount = 16

  /// The only format of a wrapped key so far; bound by its seal.
  private static let format: Int64 = 1

  /// Takes over what was stored; nothing is checked before it is unwrapped.
  package init(
    dataKeyID: SealingKey.ID, source: KeySourceName, derivation: KeyDerivation.Parameters?, box: [UInt8]
  ) {
    self.dataKeyID = dataKeyID
    self.source = source
    self.derivation = derivation
    self.box = box
  }

  /// Wraps a data key.
  ///
  /// - Parameters:
  ///   - dataKey: what the vault's records are sealed with.
  ///   - kek: the key-encryption key.
  ///   - source: where that one came from.
  ///   - derivation: how it was derived; nil for a key file.
  ///   - vaultID: of ``vaultIDByteCount`` bytes.
  /// - Returns: what is stored.
  package static func wrap(
    _ dataKey: SealingKey, with kek: SealingKey, source: KeySourceName, derivation: KeyDerivation.Parameters?,
    vaultID: [UInt8]
  ) -> WrappedKey {
    let place = place(of: dataKey.id, source: source, derivation: derivation, vaultID: vaultID)
    let box = dataKey.secret.withBytes { SealedBox.seal($0, context: place, key: kek) }
    return WrappedKey(dataKeyID: dataKey.id, source: source, derivation: derivation, box: box)
  }

  /// Wraps a data key.
  package static func wrap(_ dataKey: SealingKey, with kek: KeyEncryptionKey, vaultID: [UInt8]) -> WrappedKey {
    wrap(dataKey, with: kek.key, source: kek.source, derivation: kek.derivation, vaultID: vaultID)
  }

  /// The key-encryption key that the box names; not authenticated until the box is opened.
  ///
  /// - Throws: `KeyRingError.damaged` when it is no box.
  package func keyEncryptionKeyID() throws(KeyRingError) -> SealingKey.ID {
    do { return try SealedBox.keyID(of: box.span) } catch { throw .damaged }
  }

  /// Opens the data key.
  ///
  /// - Throws: `KeyRingError.wrongKey` when it needs another key-encryption key, `.damaged` when anything of it is not
  ///   what was wrapped, `.unavailable` when the memory for secrets is full.
  package func unwrap(with kek: SealingKey, vaultID: [UInt8]) throws(KeyRingError) -> SealingKey {
    let place = Self.place(of: dataKeyID, source: source, derivation: derivation, vaultID: vaultID)
    do throws(SealingError) {
      let dataKey = try SealingKey(SealedBox.open(box.span, context: place, key: kek))
      guard dataKey.id == dataKeyID else { throw .notAuthentic }
      return dataKey
    } catch {
      switch error {
      case .wrongKey: throw .wrongKey
      case .secretMemoryExhausted: throw .unavailable(.secretMemoryExhausted)
      default: throw .damaged
      }
    }
  }

  private static func place(
    of dataKeyID: SealingKey.ID, source: KeySourceName, derivation: KeyDerivation.Parameters?, vaultID: [UInt8]
  ) -> AssociatedData {
    var place = AssociatedData()
    place.append(format)
    place.append("keyring")
    place.append("wrapped")
    place.append(source.rawValue)
    if let derivation {
      place.append(Int64(derivation.passes))
      place.append(Int64(derivation.memoryKiB))
      place.append(derivation.salt.span)
    }
    place.append(dataKeyID.bytes.span)
    place.append(vaultID.span)
    return place
  }
}
