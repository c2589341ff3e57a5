import LinuxSystem
import SQLite
package import Sealing
import SecretMemory

/// The sealed database in which sessions rest.
///
/// It has the only connection to its file and a thread of its own, on which everything that touches the disk happens.
/// Whoever opened it closes it; one that is not closed has lost nothing, but its thread stays until the last reference
/// is gone.
package actor Vault {
  /// What the descriptions of the vault call its file; for logs.
  package nonisolated let path: String

  private nonisolated let worker: WorkerThread

  /// Where this actor runs.
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The worker lives as long as the actor, and its thread keeps it alive longer.
    unsafe worker.asUnownedSerialExecutor()
  }

  /// Seals and opens what the tables hold.
  let key: SealingKey
  /// The time that rows are marked with: milliseconds since 1970-01-01T00:00:00Z.
  let now: @Sendable () -> Int64
  /// Nil before the vault was started and after it was closed; others get it from `open()`.
  private var connection: SQLiteConnection?
  /// The last sequence that was made durable; nil before it was read.
  var reservedSequence: UInt64?

  private init(path: String, key: SealingKey, now: @escaping @Sendable () -> Int64) {
    self.path = path
    self.key = key
    self.now = now
    worker = WorkerThread(name: "vault")
  }

  deinit {
    // The last reference may be dropped by the last job itself; the thread then stays idle.
    if worker.isIsolatingCurrentContext() != true { worker.stop() }
  }

  /// Opens a vault, or makes an empty one (mode 0600) and marks it with the key.
  ///
  /// - Parameters:
  ///   - path: of the database, in a private directory that exists.
  ///   - key: what it is sealed with.
  ///   - now: milliseconds since 1970-01-01T00:00:00Z; only for people who look at the file.
  /// - Returns: the vault, and the source of handles and token names that belongs to it.
  /// - Throws: `VaultError`; nothing was changed when the key is wrong or the schema is newer.
  package static func open(
    path: String, key: SealingKey, now: @escaping @Sendable () -> Int64 = wallClockMilliseconds
  ) async throws(VaultError) -> (vault: Vault, entropy: SealedEntropy) {
    let vault = Vault(path: path, key: key, now: now)
    return (vault, SealedEntropy(fingerprint: try await vault.start()))
  }

  /// Whether there is anything at a path that a new key could not open; the database itself is not touched.
  package static func hasContents(at path: String) -> Bool {
    [path, path + "-wal"].contains { name in
      do throws(Errno) {
        let status = try FileStatus.ofLink(name)
        return status.kind != .regular || status.size > 0
      } catch {
        // What cannot be looked at may well hold something.
        return error != .noEntry
      }
    }
  }

  /// The wall clock as the vault stores it.
  package static func wallClockMilliseconds() -> Int64 {
    WallClock.milliseconds
  }

  /// The number of the database's schema.
  ///
  /// - Throws: `VaultError.closed`, `.storage`.
  package var schemaVersion: Int32 {
    get throws(VaultError) {
      do { return try open().schemaVersion() } catch let error as SQLiteError { throw .storage(error) } catch {
        throw .closed
      }
    }
  }

  /// Writes everything into the database file, closes it and ends the thread; a second call does nothing.
  ///
  /// - Throws: `VaultError.storage`; nothing that was saved is lost even then.
  package nonisolated func close() async throws(VaultError) {
    try await closeConnection()
    worker.stop()
  }

  private func closeConnection() throws(VaultError) {
    guard let connection else { return }
    self.connection = nil
    do { try connection.close() } catch { throw .storage(error) }
  }

  /// The connection, for the time of one job.
  ///
  /// - Throws: `VaultError.closed`.
  func open() throws(VaultError) -> SQLiteConnection {
    guard let connection else { throw .closed }
    return connection
  }

  private func start() throws(VaultError) -> TokenFingerprint {
    let connection = try Self.connect(path)
    let metadata = MetadataTable(connection: connection, key: key)
    if try metadata.value(.keyCheck) == nil { try Self.initialize(connection, metadata) }
    guard let secret = try metadata.value(.fingerprintKey), let fingerprint = TokenFingerprint(key: secret) else {
      throw .damaged(part: MetadataTable.Name.fingerprintKey.rawValue)
    }
    self.connection = connection
    return fingerprint
  }

  private static func connect(_ path: String) throws(VaultError) -> SQLiteConnection {
    let connection: SQLiteConnection
    do throws(SQLiteError) {
      connection = try SQLiteConnection(path: path, applicationID: VaultSchema.applicationID)
      try connection.checkIntegrity(.quick)
    } catch {
      switch error.code.primary {
      case .busy, .locked: throw .inUse
      case .corrupt: throw .damaged(part: "database")
      default: throw .cannotOpen(error)
      }
    }
    do throws(MigrationError) {
      try VaultSchema.migrator.migrate(connection)
    } catch {
      switch error {
      case .newerSchema(let found, let supported): throw .newerSchema(found: found, supported: supported)
      case .unreadable(let cause): throw .storage(cause)
      case .failed(_, let cause as SQLiteError): throw .storage(cause)
      case .failed: throw .damaged(part: "schema")
      }
    }
    return connection
  }

  /// Marks an empty vault with the key; one that holds something and lost its mark was tampered with.
  private static func initialize(_ connection: SQLiteConnection, _ metadata: MetadataTable) throws(VaultError) {
    do {
      try connection.transaction {
        let rows = try connection.prepare("SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM metadata)")
        guard try rows.step(), try rows.int64(at: 0) == 0 else {
          throw VaultError.damaged(part: MetadataTable.Name.keyCheck.rawValue)
        }
        try metadata.set(.keyCheck, to: Span())
        let key = try RandomBytes.secret(count: TokenFingerprint.keyByteCount)
        try key.withBytes { bytes throws(VaultError) in try metadata.set(.fingerprintKey, to: bytes) }
      }
    } catch let error as VaultError {
      throw error
    } catch let error as SQLiteError {
      throw .storage(error)
    } catch {
      throw .secretMemoryExhausted
    }
  }
}
