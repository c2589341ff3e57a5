import SQLite
import Sealing

/// The provider's tables, and the key that most of them need, for one call.
struct LocalDatabase {
  /// The open files.
  let files: LocalFiles
  /// Hashes whatever is only ever compared.
  let fingerprint: Fingerprint
  /// Seals stored values that must be read again.
  let sealingKey: SealingKey

  /// The tables.
  var connection: SQLiteConnection { files.connection }

  /// Opens the keys.
  ///
  /// - Throws: `LocalStoreFault.keys`, `SQLiteError`, `SealingError`, `SecretMemoryExhausted`.
  init(_ files: LocalFiles, sealingKey: SealingKey) throws {
    self.files = files
    let keys = LocalKeys(connection: files.connection, sealingKey: sealingKey)
    fingerprint = try keys.fingerprint()
    self.sealingKey = sealingKey
  }
}
