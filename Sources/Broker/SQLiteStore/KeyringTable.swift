import BrokerProtocol
import Records
import SQLite
import Sealing

/// The one row that holds the data key, wrapped: all that is read before there is a key.
struct KeyringTable {
  /// The contents of the row.
  struct Ring: Sendable, Equatable {
    /// The vault's own random identifier.
    var vaultID: [UInt8]
    /// The wrapped data key, and where the key comes from that opens it.
    var wrapped: WrappedKey
    /// A key file that nothing needs any more, and that is still to be removed.
    var retiredKeyFile: String?
  }

  /// The vault's database.
  let connection: SQLiteConnection

  /// The row.
  ///
  /// - Throws: `VaultError.damaged` when it is missing or not what was written, `.storage`.
  func ring() throws(VaultError) -> Ring {
    do {
      let row = try connection.prepare(
        "SELECT vault_id, key_id, source, salt, passes, memory, wrapped, retired_key_file FROM keyring")
      guard try row.step(), let source = KeySourceName(rawValue: try row.text(at: 2)) else { throw damage }
      let vaultID = try row.blob(at: 0)
      guard vaultID.count == WrappedKey.vaultIDByteCount else { throw damage }
      let derivation =
        row.isNull(at: 3)
        ? nil
        : try KeyDerivation.Parameters(
          passes: Int(try row.int64(at: 4)), memoryKiB: Int(try row.int64(at: 5)), salt: try row.blob(at: 3))
      let wrapped = WrappedKey(
        dataKeyID: try SealingKey.ID(bytes: try row.blob(at: 1)), source: source, derivation: derivation,
        box: try row.blob(at: 6))
      let retired = row.isNull(at: 7) ? nil : try row.text(at: 7)
      return Ring(vaultID: vaultID, wrapped: wrapped, retiredKeyFile: retired)
    } catch let error as SQLiteError where error.code != .mismatch {
      throw VaultError(whileReading: error)
    } catch {
      throw damage
    }
  }

  /// Writes the row.
  ///
  /// - Throws: `VaultError.storage`.
  func write(_ ring: Ring, at time: Int64) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        """
        REPLACE INTO keyring (only, vault_id, key_id, source, salt, passes, memory, wrapped, created_at,
          retired_key_file)
        VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """)
      try statement.bind(ring.vaultID, at: 1)
      try statement.bind(ring.wrapped.dataKeyID.bytes, at: 2)
      try statement.bind(ring.wrapped.source.rawValue, at: 3)
      if let derivation = ring.wrapped.derivation {
        try statement.bind(derivation.salt, at: 4)
        try statement.bind(Int64(derivation.passes), at: 5)
        try statement.bind(Int64(derivation.memoryKiB), at: 6)
      }
      try statement.bind(ring.wrapped.box, at: 7)
      try statement.bind(time, at: 8)
      if let retired = ring.retiredKeyFile { try statement.bind(retired, at: 9) }
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// Notes that the retired key file is gone.
  ///
  /// - Throws: `VaultError.storage`.
  func forgetRetiredKeyFile() throws(VaultError) {
    do throws(SQLiteError) { try connection.execute("UPDATE keyring SET retired_key_file = NULL") } catch {
      throw .storage(error)
    }
  }

  private var damage: VaultError { .damaged(part: "keyring") }
}
