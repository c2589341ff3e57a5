import BrokerCore
import Records
import SQLite
import Sealing
import SecretMemory

/// A vault of the first schema: everything sealed directly under the key file's key.
struct UnkeyedVault {
  /// The vault's database.
  let connection: SQLiteConnection
  /// The key file's key.
  let key: SealingKey

  /// The format that everything was sealed in.
  private static let format: Int64 = 1

  /// The key of token names: opens with the right key only, so it also tells whether this is the one.
  ///
  /// - Throws: `VaultError.damaged`, `.storage`, `.secretMemoryExhausted`.
  func fingerprintKey() throws(VaultError) -> Secret {
    guard let secret = try metadata("fingerprintKey"), secret.byteCount == TokenFingerprint.keyByteCount else {
      throw .damaged(part: "fingerprintKey")
    }
    return secret
  }

  /// The last sequence that may have been given.
  ///
  /// - Throws: `VaultError.damaged`, `.storage`, `.secretMemoryExhausted`.
  func sequence() throws(VaultError) -> UInt64 {
    guard let value = try metadata("sequence") else { return 0 }
    guard value.byteCount == 8 else { throw .damaged(part: "sequence") }
    return value.withBytes { bytes in bytes.indices.reduce(0) { $0 << 8 | UInt64(bytes[$1]) } }
  }

  /// Whether the key is the one that the vault was sealed with.
  ///
  /// - Throws: `VaultError.damaged` when that cannot be told, `.storage`, `.secretMemoryExhausted`.
  func isKeyRight() throws(VaultError) -> Bool {
    guard let box = try box("keyCheck") else { throw .damaged(part: "keyCheck") }
    do throws(SealingError) {
      _ = try SealedBox.open(box.span, context: place("metadata", "value", "keyCheck"), key: key)
      return true
    } catch {
      switch error {
      case .wrongKey: return false
      case .secretMemoryExhausted: throw .secretMemoryExhausted
      default: throw .damaged(part: "keyCheck")
      }
    }
  }

  /// Removes the values of the vault itself, of which a new vault makes its own.
  ///
  /// - Throws: `VaultError.storage`.
  func dropMetadata() throws(VaultError) {
    do throws(SQLiteError) { try connection.execute("DELETE FROM metadata") } catch { throw .storage(error) }
  }

  /// Seals every record that opens under a data key and lists it; one that does not open stays as it is, unlisted.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func reseal(with seal: VaultSeal, in manifest: inout Manifest) throws(VaultError) {
    var boxes: [(name: String, box: [UInt8])] = []
    do {
      let rows = try connection.prepare(
        "SELECT profile, provider_type, issuer, client_id, generation, format, sealed FROM session")
      while try rows.step() {
        guard let name = try ifReadable({ () throws(SQLiteError) in try rows.text(at: 0) }),
          let box = try resealed(rows, name, seal)
        else { continue }
        boxes.append((name, box))
      }
      for (name, box) in boxes {
        let update = try connection.prepare(
          "UPDATE session SET sealed = ?2, key_id = ?3, format = ?4 WHERE profile = ?1")
        try update.bind(name, at: 1)
        try update.bind(box, at: 2)
        try update.bind(seal.key.id.bytes, at: 3)
        try update.bind(SealedPlace.currentFormat, at: 4)
        try update.run()
        manifest[.session, name] = RowTag(ofBox: box.span)
      }
    } catch { throw VaultError(whileReading: error) }
  }

  private func resealed(_ row: borrowing Statement, _ name: String, _ seal: VaultSeal) throws -> [UInt8]? {
    let binding = ProviderBinding(type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3))
    let generation = try row.int64(at: 4)
    guard try row.int64(at: 5) == Self.format else { return nil }
    var old = place("session", "sealed", name)
    old.append(binding.type)
    old.append(binding.issuer)
    old.append(binding.clientID)
    old.append(generation)
    let new = SealedPlace(table: "session", row: name, binding: binding, numbers: [generation])
    do {
      return try row.withBlob(at: 6) { box in
        try SealedBox.open(box, context: old, key: key).withBytes { seal.seal($0, at: new) }
      }
    } catch SealingError.secretMemoryExhausted {
      throw VaultError.secretMemoryExhausted
    } catch is SealingError {
      return nil
    }
  }

  private func metadata(_ name: String) throws(VaultError) -> Secret? {
    guard let box = try box(name) else { return nil }
    do throws(SealingError) {
      return try SealedBox.open(box.span, context: place("metadata", "value", name), key: key)
    } catch {
      throw error == .secretMemoryExhausted ? .secretMemoryExhausted : .damaged(part: name)
    }
  }

  private func box(_ name: String) throws(VaultError) -> [UInt8]? {
    do throws(SQLiteError) {
      let statement = try connection.prepare("SELECT value FROM metadata WHERE name = ?1")
      try statement.bind(name, at: 1)
      return try statement.step() ? try statement.blob(at: 0) : nil
    } catch { throw error.code == .mismatch ? .damaged(part: name) : .storage(error) }
  }

  private func place(_ table: String, _ column: String, _ row: String) -> AssociatedData {
    var place = AssociatedData()
    place.append(Self.format)
    place.append(table)
    place.append(column)
    place.append(row)
    place.append(key.id.bytes.span)
    return place
  }
}
