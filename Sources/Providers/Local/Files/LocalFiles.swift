import BrokerProtocol
import LinuxSystem
import SQLite
import Sealing
import SecretMemory

/// The provider's files, open: its tables, and its outbox.
///
/// That a database was made is noted in a file beside it. A database that is empty or gone is then damage, and not made
/// again with new keys, which would end every login and lose every account without a word.
final class LocalFiles {
  /// Marks the file as this provider's: `ABLP`.
  private static let applicationID: Int32 = 0x4142_4C50
  private static let databaseName = "db.sqlite"
  /// Says that the database was made.
  private static let markName = "db.sqlite.made"
  /// Asks for new keys where the old ones cannot be opened; a person makes it.
  static let renewalName = "renew-keys"

  /// The tables.
  let connection: SQLiteConnection
  /// The outbox.
  let outbox: Outbox

  /// Opens the files below a directory and makes what was never there.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - sealingKey: opens the provider's keys.
  ///   - now: since when keys count as made that are made now.
  /// - Throws: `LocalStoreFault`, `PrivateDirectory.Refusal`, `SQLiteError` (`.locked` or `.busy` where another provider
  ///   has it), `MigrationError`, `SecretMemoryExhausted`, `Errno`.
  init(directory path: String, sealingKey: SealingKey, at now: Timestamp) throws {
    let directory = try PrivateDirectory(path, create: true)
    outbox = Outbox(directory: try PrivateDirectory(path + "/outbox", create: true))
    let wasMade = try Self.wasMade(path)
    do throws(SQLiteError) {
      connection = try SQLiteConnection(
        path: "\(path)/\(Self.databaseName)", applicationID: Self.applicationID, checking: .quick,
        mustHaveTables: wasMade)
    } catch { throw Self.fault(error) ?? error }
    // Written for no one, and left by a process that was killed then.
    try outbox.remove(MessageTable.numberOfNone)
    let keys = LocalKeys(connection: connection, sealingKey: sealingKey)
    let renewal = "\(path)/\(Self.renewalName)"
    let isRenewing = Self.isRequest(renewal)
    try Self.migrate(keys, at: now, isRenewing: isRenewing)
    do { try keys.check() } catch let fault as LocalStoreFault {
      guard isRenewing else { throw fault }
      try connection.transaction { try keys.renew(at: now) }
      try DirectoryEntry.remove(renewal)
    }
    guard !wasMade else { return }
    try directory.writeFile(Self.markName, [UInt8]().span)
    try directory.synchronizeWithParents()
  }

  /// The messages that may lie in the outbox.
  var messages: MessageTable { MessageTable(connection) }

  /// Removes messages, the file before its row.
  ///
  /// - Throws: `Errno`, `SQLiteError`.
  func removeMessages(_ numbers: [Int64]) throws {
    for number in numbers {
      try outbox.remove(number)
      try messages.remove(number)
    }
  }

  /// Whether a database was made here before; an empty one that was is refused before SQLite removes its log.
  private static func wasMade(_ path: String) throws -> Bool {
    let database = "\(path)/\(databaseName)"
    var wasMade = try size("\(path)/\(markName)") != nil
    guard try size(database) ?? 0 == 0 else { return wasMade }
    if try size(database + "-wal") ?? 0 > 0 { wasMade = true }
    guard !wasMade else { throw LocalStoreFault.emptied }
    return false
  }

  /// How many bytes are behind a name; nil where there is nothing.
  private static func size(_ path: String) throws(Errno) -> Int64? {
    do throws(Errno) { return try FileStatus.ofLink(path).size } catch {
      guard error == .noEntry else { throw error }
      return nil
    }
  }

  /// Brings the database to the schema of this program.
  private static func migrate(_ keys: LocalKeys, at now: Timestamp, isRenewing: Bool) throws {
    let connection = keys.connection
    do throws(MigrationError) {
      let migrator = LocalSchema.migrator(keys, at: now, isRenewing: isRenewing)
      // The keys of the first schema lay in the clear, also in earlier frames of the log.
      guard try migrator.migrate(connection) < LocalSchema.version else { return }
      do { try connection.checkpoint() } catch { throw .failed(version: LocalSchema.version, cause: error) }
    } catch {
      if case .failed(_, let cause as LocalStoreFault) = error { throw cause }
      throw error
    }
  }

  /// Whether a person has asked for new keys.
  private static func isRequest(_ path: String) -> Bool {
    guard let status = try? FileStatus.ofLink(path) else { return false }
    return status.kind == .regular && status.owner == ProcessIdentity.user
  }

  /// The fault that no retry fixes; nil for a passing failure.
  private static func fault(_ error: SQLiteError) -> LocalStoreFault? {
    switch (error.operation, error.code.primary) {
    case (.companion(let suffix), _): .notOurs(name: databaseName + suffix.description)
    case (.tables, _): .emptied
    case (_, .corrupt), (_, .notADatabase): .damaged
    case (_, .permission): .notOurs(name: databaseName)
    default: nil
    }
  }
}
