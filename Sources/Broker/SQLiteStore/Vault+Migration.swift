import BrokerCore
import BrokerProtocol
import LinuxSystem
import Records
import SQLite
import Sealing

extension Vault {
  /// Migrates a vault of the first schema, after its key was proven to open it and a copy of it was kept.
  ///
  /// The copy is sealed as the vault was: its reader, with the key file, has the tokens that were in it.
  func migrate(_ connection: SQLiteConnection) throws(KeyFailure) {
    let key: SealingKey
    do throws(KeySourceError) { key = try encryption.settings.keyFile().read() } catch { throw KeyFailure(error) }
    let old = UnkeyedVault(connection: connection, key: key)
    let isKeyRight: Bool
    do { isKeyRight = try old.isKeyRight() } catch { throw KeyFailure(error) }
    guard isKeyRight else { throw KeyFailure(.wrongKey, source: .file) }
    do throws(VaultError) {
      let last = try old.sequence()
      // Both are proven to open before anything is written.
      _ = try old.fingerprintKey()
      connection.keepsLog = false
      try backUp(connection)
      reached(.backedUp)
      sequence = max(sequence, last)
      try VaultCreation(connection: connection, sequence: sequence, time: now()).reseal(old) { reached(.resealed) }
      ring = try KeyringTable(connection: connection).ring()
    } catch { throw KeyFailure(error) }
    schemaVersion = VaultSchema.version
    reached(.committed)
    // The old sealed values are in the log's earlier frames.
    try? connection.checkpoint()
  }

  /// Migrates a vault that has a key ring, after its key was proven to be right and a copy of it was kept.
  ///
  /// - Throws: `KeyFailure`; nothing was changed then, but for the copy.
  func migrateFurther(_ connection: SQLiteConnection) throws(KeyFailure) {
    do throws(VaultError) {
      connection.keepsLog = false
      try backUp(connection)
      reached(.backedUp)
      try VaultCreation(connection: connection, sequence: sequence, time: now()).extend()
    } catch { throw KeyFailure(error) }
    schemaVersion = VaultSchema.version
    reached(.committed)
  }

  /// Keeps a copy of the database as it is: complete under its name, or not there.
  private func backUp(_ connection: SQLiteConnection) throws(VaultError) {
    let name = "\(path).backup-\(schemaVersion)"
    let temporary = name + ".new"
    do {
      // Left over from a process that ended in between.
      try? DirectoryEntry.remove(temporary)
      // Empty and private already when SQLite begins to write it.
      let file = try FileDescriptor.open(temporary, [.readWrite, .create, .exclusive, .noFollow])
      try connection.copy(into: temporary)
      try file.synchronize()
      try DirectoryEntry.rename(temporary, to: name)
      try FileDescriptor.open(PathName.directory(of: path), [.read, .directory]).synchronize()
    } catch let error as SQLiteError {
      try? DirectoryEntry.remove(temporary)
      throw .storage(error)
    } catch {
      try? DirectoryEntry.remove(temporary)
      throw .storage(SQLiteError(code: .inputOutput, operation: .open, systemError: (error as? Errno)?.code ?? 0))
    }
  }
}
