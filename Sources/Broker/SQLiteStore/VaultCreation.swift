import BrokerCore
import BrokerProtocol
import Records
import SQLite
import Sealing
import SecretMemory

/// Makes the tables of a new vault, or of one whose schema is older, and everything that is in them from the beginning.
struct VaultCreation {
  /// The vault's database.
  let connection: SQLiteConnection
  /// The last sequence that may have been given.
  let sequence: UInt64
  /// Milliseconds since 1970-01-01T00:00:00Z.
  let time: Int64

  /// Makes a new vault in one transaction.
  ///
  /// - Parameters:
  ///   - kek: wraps the new data key.
  ///   - willCommit: called before the transaction is made durable.
  /// - Throws: `VaultError`; the database is as empty as before then.
  func make(_ kek: KeyEncryptionKey, willCommit: () -> Void) throws(VaultError) {
    try withoutActuallyEscaping(willCommit) { willCommit throws(VaultError) in
      try migrate(
        VaultSchema.migrator(
          create: { _ in
            let secret = try RandomBytes.secret(count: TokenFingerprint.keyByteCount)
            try fill(kek, fingerprintKey: secret) { _ in }
            willCommit()
          },
          reseal: { _ in throw VaultError.damaged(part: "schema") }))
    }
  }

  /// Brings a vault in which everything is sealed directly under the key file's key to this schema, in one transaction.
  ///
  /// - Parameters:
  ///   - old: opens what is there.
  ///   - willCommit: called before the transaction is made durable.
  /// - Throws: `VaultError`; nothing was changed then.
  func reseal(_ old: UnkeyedVault, willCommit: () -> Void) throws(VaultError) {
    let fingerprintKey = try old.fingerprintKey()
    try withoutActuallyEscaping(willCommit) { willCommit throws(VaultError) in
      try migrate(
        VaultSchema.migrator(
          create: { _ in throw VaultError.damaged(part: "schema") },
          reseal: { _ in
            let kek = KeyEncryptionKey(key: old.key, source: .file, derivation: nil)
            try old.dropMetadata()
            try fill(kek, fingerprintKey: fingerprintKey) { change in
              try old.reseal(with: change.seal, in: &change.manifest)
            }
            willCommit()
          }))
    }
  }

  /// Adds the tables that a vault with a key ring lacks; what is in the others stays as it is.
  ///
  /// - Throws: `VaultError`; nothing was changed then.
  func extend() throws(VaultError) {
    try migrate(
      VaultSchema.migrator(
        create: { _ in throw VaultError.damaged(part: "schema") },
        reseal: { _ in throw VaultError.damaged(part: "schema") }))
  }

  /// Draws the data key and the vault's identifier, and writes the first head.
  private func fill(
    _ kek: KeyEncryptionKey, fingerprintKey: Secret, _ body: (inout VaultChange) throws -> Void
  ) throws {
    let vaultID = RandomBytes.array(count: WrappedKey.vaultIDByteCount)
    let key = try SealingKey.random()
    let ring = KeyringTable.Ring(
      vaultID: vaultID, wrapped: WrappedKey.wrap(key, with: kek, vaultID: vaultID), retiredKeyFile: nil)
    try KeyringTable(connection: connection).write(ring, at: time)
    var change = VaultChange(
      connection: connection, seal: VaultSeal(key: key, vaultID: vaultID), manifest: Manifest(), head: VaultHead(),
      sequence: sequence, time: time)
    try change.set(.fingerprintKey, to: fingerprintKey)
    try body(&change)
    change.head.completeness.lose(through: sequence, lasting: true)
    try change.finish()
  }

  private func migrate(_ migrator: Migrator) throws(VaultError) {
    do throws(MigrationError) {
      try migrator.migrate(connection)
    } catch {
      switch error {
      case .newerSchema(let found, let supported): throw .newerSchema(found: found, supported: supported)
      case .unreadable(let cause): throw .storage(cause)
      case .failed(_, let cause): throw VaultError(whileReading: cause)
      }
    }
  }
}
