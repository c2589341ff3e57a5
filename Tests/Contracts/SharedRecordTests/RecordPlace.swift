import Fleet
import LinuxSystem
import PostgreSQL
import SQLite
import Synchronization
import TestSupport
import Testing

/// The places for shared records that the contract is held by.
enum RecordPlace {
  /// A kind of place; PostgreSQL is among them where it is installed.
  enum Kind: String, CaseIterable, Sendable {
    case memory, sqlite, postgresql, sessionPool, transactionPool

    static var allCases: [Kind] {
      let pools: [Kind] = DatabaseCluster.pooler == nil ? [] : [.sessionPool, .transactionPool]
      return [.memory, .sqlite] + (DatabaseCluster.programs == nil ? [] : [.postgresql] + pools)
    }

    /// Whether everything is installed that places are made of.
    static var areComplete: Bool { DatabaseCluster.programs != nil && DatabaseCluster.pooler != nil }

    /// The pool before the server; nil for none.
    var pool: DatabaseCluster.PoolMode? {
      switch self {
      case .sessionPool: .session
      case .transactionPool: .transaction
      default: nil
      }
    }
  }

  /// Runs a test with a new place.
  static func with(_ kind: Kind, _ body: (any SharedRecord) async throws -> Void) async throws {
    switch kind {
    case .memory: try await body(MemoryRecord())
    case .sqlite:
      let scratch = Scratch()
      let place = try SQLiteRecord(scratch.file("records"))
      try await body(place)
      await place.close()
    case .postgresql, .sessionPool, .transactionPool:
      let cluster = try await OwnThread.run { try DatabaseCluster() }
      let result: Result<Void, any Error>
      do {
        let owner = record(at: cluster.connection)
        try await owner.prepare()
        try await owner.prepare()
        await owner.close()
        let pool = kind.pool
        let connection = try await OwnThread.run {
          try pool.map { try cluster.startPool($0, table: PostgreSQLRecord.table) } ?? cluster.connection
        }
        let place = record(at: connection)
        let outcome: Result<Void, any Error>
        do {
          // The table is there, so that a role which may make none can prepare it.
          try await place.prepare()
          outcome = .success(try await body(place))
        } catch { outcome = .failure(error) }
        await place.close()
        result = outcome
      } catch { result = .failure(error) }
      try await OwnThread.run { cluster.end() }
      try result.get()
    }
  }

  private static func record(at connection: String) -> PostgreSQLRecord {
    PostgreSQLRecord(PostgreSQL(PostgreSQLSettings(connection: connection)) { .success(nil) }, fleet: "f")
  }
}

/// Records in memory: the double.
final class MemoryRecord: SharedRecord {
  private let rows = Mutex<[String: SharedRow]>([:])
  private let failing = Atomic(false)

  /// The records that the last reading by known versions has brought, and the names of those whose writes are told.
  let lastRead = Mutex(SharedRows(rows: [:], time: 0))
  let told = Mutex<[String]>([])

  /// Whether nothing can be read or written.
  var isAway: Bool {
    get { failing.load(ordering: .relaxed) }
    set { failing.store(newValue, ordering: .relaxed) }
  }

  /// What is done once, right before the next write: by another member, say.
  let interruption = Mutex<(@Sendable () -> Void)?>(nil)
  /// What becomes of writes.
  enum Loss { case question, answer }

  /// What is lost of writes of several records, and of those of one; nil for nothing.
  let loss = Mutex<Loss?>(nil)
  let lossOfOne = Mutex<Loss?>(nil)

  /// Its clock, in milliseconds.
  let clock = Atomic(Int64(1_000_000))

  /// Puts records in the place of what is there, as a restored backup does.
  func restore(_ old: [String: SharedRow]) { rows.withLock { $0 = old } }

  private func reach() throws(SharedRecordFailure) {
    if isAway { throw SharedRecordFailure("the place is away") }
  }

  func read() async throws(SharedRecordFailure) -> SharedRows {
    try reach()
    return SharedRows(rows: rows.withLock { $0 }, time: clock.load(ordering: .relaxed))
  }

  func read(_ name: String) async throws(SharedRecordFailure) -> SharedRows {
    try reach()
    return SharedRows(rows: rows.withLock { $0.filter { $0.key == name } }, time: clock.load(ordering: .relaxed))
  }

  func read(_ wanted: [WantedRecord]) async throws(SharedRecordFailure) -> SharedRows {
    try reach()
    let here = rows.withLock { $0 }
    var found = SharedRows(rows: [:], time: clock.load(ordering: .relaxed))
    for entry in wanted where here[entry.name]?.version != entry.version {
      if let row = here[entry.name] { found.rows[entry.name] = row } else { found.gone.append(entry.name) }
    }
    lastRead.withLock { $0 = found }
    return found
  }

  func write(
    _ bytes: [UInt8], as name: String, from old: Int64?, to new: Int64, isTold: Bool
  ) async throws(SharedRecordFailure) -> Bool {
    if isTold { told.withLock { $0.append(name) } }
    return try put([SharedWrite(bytes, as: name, from: old, to: new)], losing: lossOfOne.withLock { $0 })
  }

  func write(_ changes: [SharedWrite]) async throws(SharedRecordFailure) -> Bool {
    try put(changes, losing: loss.withLock { $0 })
  }

  private func put(_ changes: [SharedWrite], losing loss: Loss?) throws(SharedRecordFailure) -> Bool {
    interrupt()
    try reach()
    let isWritten = loss != .question && put(changes)
    if loss != nil { throw SharedRecordFailure("no answer in time") }
    return isWritten
  }

  private func interrupt() {
    let action = interruption.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
  }

  /// Writes all of these, or none.
  @discardableResult
  func put(_ changes: [SharedWrite]) -> Bool {
    rows.withLock { rows in
      guard changes.allSatisfy({ rows[$0.name]?.version == $0.old }) else { return false }
      for change in changes { rows[change.name] = SharedRow(version: change.new, bytes: change.bytes) }
      return true
    }
  }

  func close() async {}
}

/// Records in one SQLite file: what another engine looks like.
actor SQLiteRecord: SharedRecord {
  private nonisolated let worker = WorkerThread(name: "records")
  nonisolated var unownedExecutor: UnownedSerialExecutor { worker.asUnownedSerialExecutor() }
  private let connection: SQLiteConnection

  init(_ path: String) throws {
    connection = try SQLiteConnection(path: path, applicationID: 1)
    try connection.execute(
      "CREATE TABLE record (name TEXT PRIMARY KEY, version INTEGER NOT NULL, bytes BLOB NOT NULL)")
  }

  func read() async throws(SharedRecordFailure) -> SharedRows { try rows(named: nil) }

  func read(_ name: String) async throws(SharedRecordFailure) -> SharedRows { try rows(named: name) }

  private func rows(named name: String?) throws(SharedRecordFailure) -> SharedRows {
    do throws(SQLiteError) {
      let statement = try connection.prepare("SELECT name, version, bytes FROM record WHERE ?1 IS NULL OR name = ?1")
      if let name { try statement.bind(name, at: 1) }
      var rows = SharedRows(rows: [:], time: WallClock.milliseconds)
      while try statement.step() {
        rows.rows[try statement.text(at: 0)] = SharedRow(
          version: try statement.int64(at: 1), bytes: try statement.blob(at: 2))
      }
      return rows
    } catch { throw SharedRecordFailure(error.description) }
  }

  func read(_ wanted: [WantedRecord]) async throws(SharedRecordFailure) -> SharedRows {
    var found = SharedRows(rows: [:], time: WallClock.milliseconds)
    for entry in wanted {
      let row = try rows(named: entry.name).rows[entry.name]
      guard row?.version != entry.version else { continue }
      if let row { found.rows[entry.name] = row } else { found.gone.append(entry.name) }
    }
    return found
  }

  func write(
    _ bytes: [UInt8], as name: String, from old: Int64?, to new: Int64, isTold: Bool
  ) async throws(SharedRecordFailure) -> Bool {
    do throws(SQLiteError) {
      return try put(SharedWrite(bytes, as: name, from: old, to: new))
    } catch { throw SharedRecordFailure(error.description) }
  }

  func write(_ changes: [SharedWrite]) async throws(SharedRecordFailure) -> Bool {
    do throws(SQLiteError) {
      try connection.execute("BEGIN IMMEDIATE")
      for change in changes where try !put(change) {
        try connection.execute("ROLLBACK")
        return false
      }
      try connection.execute("COMMIT")
      return true
    } catch { throw SharedRecordFailure(error.description) }
  }

  private func put(_ change: SharedWrite) throws(SQLiteError) -> Bool {
    let statement = try connection.prepare(change.old == nil ? Self.insertion : Self.update)
    try statement.bind(change.name, at: 1)
    try statement.bind(change.new, at: 2)
    try statement.bind(change.bytes, at: 3)
    if let old = change.old { try statement.bind(old, at: 4) }
    try statement.run()
    return connection.changedRowCount > 0
  }

  private static let insertion: StaticString =
    "INSERT INTO record (name, version, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"
  private static let update: StaticString =
    "UPDATE record SET version = ?2, bytes = ?3 WHERE name = ?1 AND version = ?4"

  nonisolated func close() async { worker.stop() }
}
