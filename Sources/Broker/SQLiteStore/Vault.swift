import BrokerCore
package import BrokerProtocol
import LinuxSystem
package import Records
import SQLite
import Sealing
import SecretMemory

/// The sealed database in which sessions rest.
///
/// It has the only connection to its file and a thread of its own, on which everything that touches the disk happens.
/// Its opener closes it; one that is not closed has lost nothing, but its thread stays until the last reference
/// is gone.
package actor Vault {
  /// The name of the vault's file in messages and in the log.
  package nonisolated let path: String
  /// Handles and names of tokens; names from the first ``unlock(_:)`` on, while the vault is not locked.
  package nonisolated let entropy: SealedEntropy

  /// The key that the embedded provider seals its keys with, while the vault is open.
  package nonisolated let providerKey = ProviderKey()

  private nonisolated let worker: WorkerThread

  /// The executor that the actor runs on.
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The worker lives as long as the actor, and its thread keeps it alive longer.
    unsafe worker.asUnownedSerialExecutor()
  }

  /// Gets keys from their sources.
  let encryption: KeyEncryption
  /// The source that the configuration names: for a new vault, and for `rekey` without another one.
  let configuredSource: KeySourceName
  /// The path of the anchor; nil for none.
  let anchorPath: String?
  /// The time: milliseconds since 1970-01-01T00:00:00Z.
  let now: @Sendable () -> Int64
  /// Called between any two steps of which each is durable: where tests end the process.
  let reached: @Sendable (VaultStep) -> Void
  /// Room for a change that finds the disk full.
  let reserve: ReserveFile
  /// The wrong passphrases so far.
  let attempts: AttemptsFile
  /// The note of a lost vault, for the next start.
  let lossFile: LossFile
  /// The list of vaults that the key file opens; nil where the key file is not used.
  let keyFileUsers: KeyFileUsers?
  /// The rows that have ended on a full disk; nil while the key is not there, and where there was no room for it.
  var tombstones: TombstoneFile?
  /// Whether the last change found the disk full.
  var isDiskFull = false
  /// Whether a change that failed may be durable all the same, and none has taken its place.
  var isCommitInDoubt = false
  /// Whether the reserve was given away.
  var isReserveSpent = false

  /// The lost vault that was here before this new one; nil where there was none, or an event has reported it.
  var predecessor: VaultSuspicion?
  /// Whether the vault was made by this process and is not in its file yet.
  var isNew = false
  /// Whether a change of keys failed that may be in the log all the same, and come back at the next start.
  var isRekeyInDoubt = false

  /// Nil before the vault was started and after it was closed; others get it from `database()`.
  private var connection: SQLiteConnection?
  /// The identity of the file that the connection has open.
  var fileIdentity: FileStatus.Identity?
  /// The directory that it was found in.
  var fileDirectory: FileDescriptor?
  /// The number of the schema that the file has; 0 for a new one.
  var schemaVersion: Int32 = 0
  /// The wrapped data key; nil for a vault that has none yet.
  var ring: KeyringTable.Ring?
  /// The state of the unlocked vault; nil while it is locked.
  var contents: OpenVault?
  /// The anchor, while the key is there and the place can be used.
  var anchor: AnchorFile?
  /// The last sequence that may have been given.
  var sequence: UInt64 = 0

  private init(
    path: String, settings: KeySourceSettings, source: KeySourceName, anchorPath: String?, entropy: SealedEntropy,
    now: @escaping @Sendable () -> Int64, reached: @escaping @Sendable (VaultStep) -> Void
  ) {
    self.path = path
    encryption = KeyEncryption(settings)
    configuredSource = source
    self.anchorPath = anchorPath
    self.entropy = entropy
    self.now = now
    self.reached = reached
    reserve = ReserveFile(ofDatabase: path)
    attempts = AttemptsFile(ofDatabase: path)
    lossFile = LossFile(ofDatabase: path)
    keyFileUsers = KeyFileUsers(ofKeyAt: settings.keyFilePath, vaultPath: path)
    worker = WorkerThread(name: "vault")
  }

  deinit {
    // The last reference may be dropped by the last job itself; the thread then stays idle.
    if worker.isIsolatingCurrentContext() != true { worker.stop() }
  }

  /// Opens the file, or makes an empty one (mode 0600) where there is none; no key is asked for, and nothing is unsealed, before `unlock`.
  ///
  /// - Parameters:
  ///   - path: of the database, in a private directory that exists.
  ///   - settings: where the key sources find their secrets.
  ///   - source: what the configuration names. A vault that exists opens by the source that it was sealed with.
  ///   - anchorPath: of the file that notices a rollback of the vault, best in another directory; nil for none.
  ///   - entropy: gets the key of the names while the vault is open.
  ///   - now: milliseconds since 1970-01-01T00:00:00Z.
  ///   - reached: called between any two steps of which each is durable.
  /// - Returns: the vault, locked.
  /// - Throws: `VaultError`; nothing was changed when the file is damaged or of a newer schema.
  package static func open(
    path: String, settings: KeySourceSettings, source: KeySourceName = .file, anchorPath: String? = nil,
    entropy: SealedEntropy = SealedEntropy(),
    now: @escaping @Sendable () -> Int64 = wallClockMilliseconds,
    reached: @escaping @Sendable (VaultStep) -> Void = { _ in }
  ) async throws(VaultError) -> Vault {
    let vault = Vault(
      path: path, settings: settings, source: source, anchorPath: anchorPath, entropy: entropy, now: now,
      reached: reached)
    do throws(Errno) { try vault.worker.start() } catch { throw .noThread(code: error.code) }
    try await vault.start()
    return vault
  }

  /// The wall clock as the vault stores it.
  package static func wallClockMilliseconds() -> Int64 {
    WallClock.milliseconds
  }

  /// Writes everything into the database file, closes it and ends the thread; a second call does nothing.
  ///
  /// - Throws: `VaultError.storage`; nothing that was saved is lost even then.
  package nonisolated func close() async throws(VaultError) {
    try await closeConnection()
    worker.stop()
  }

  private func closeConnection() throws(VaultError) {
    forgetKeys()
    guard let connection else { return }
    self.connection = nil
    fileDirectory = nil
    do { try connection.close() } catch { throw .storage(error) }
  }

  /// The connection, for the time of one job.
  ///
  /// - Throws: `VaultError.closed`.
  func database() throws(VaultError) -> SQLiteConnection {
    guard let connection else { throw .closed }
    return connection
  }

  /// Drops everything that only the key gave.
  func forgetKeys() {
    anchor?.synchronize()
    anchor = nil
    tombstones = nil
    contents = nil
    entropy.use(nil)
    providerKey.use(nil)
  }

  private func start() throws(VaultError) {
    let mustHaveTables = try examineFiles()
    let connection: SQLiteConnection
    do throws(SQLiteError) {
      connection = try SQLiteConnection(
        path: path, applicationID: VaultSchema.applicationID, checking: .quick, mustHaveTables: mustHaveTables)
    } catch { throw VaultError(opening: error, at: path) }
    // What cannot be unsealed is left as it is, its log too.
    connection.keepsLog = true
    schemaVersion = try Self.schemaVersion(of: connection)
    if schemaVersion >= VaultSchema.keyedVersion {
      ring = try KeyringTable(connection: connection).ring()
      sequence = try HeadTable(connection: connection).sequence() ?? 0
    }
    self.connection = connection
    fileIdentity = try? FileStatus.ofLink(path).identity
    fileDirectory = try? FileDescriptor.open(PathName.directory(of: path), [.read, .directory])
  }

  private static func schemaVersion(of connection: SQLiteConnection) throws(VaultError) -> Int32 {
    do {
      let version = try connection.schemaVersion()
      guard version <= VaultSchema.version else {
        throw VaultError.newerSchema(found: version, supported: VaultSchema.version)
      }
      guard version >= 0, try connection.hasTables() == (version > 0) else { throw VaultError.damaged(part: "schema") }
      return version
    } catch { throw VaultError(whileReading: error) }
  }
}
