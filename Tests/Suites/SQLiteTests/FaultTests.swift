import TestSupport
import Testing

@testable import SQLite

/// A device that fails at any moment: an error that says so, and nothing that was acknowledged is lost.
@Suite(.standardTimeLimit) struct FaultTests {
  private static let application: Int32 = 0x4142_5445
  private static let rows: ClosedRange<Int64> = 1...6

  /// How far a run came.
  private struct Progress {
    /// Rows whose transaction was acknowledged.
    var acknowledged: Set<Int64> = []
    /// Everything that was told to go wrong.
    var errors: [SQLiteError] = []

    mutating func attempt(_ body: (inout Progress) throws -> Void) {
      do { try body(&self) } catch let error as SQLiteError { errors.append(error) } catch {
        Issue.record("another error: \(error)")
      }
    }
  }

  private static func open(_ directory: Scratch) throws(SQLiteError) -> SQLiteConnection {
    try SQLiteConnection(path: directory.file("test.db"), applicationID: application)
  }

  private static func body(_ row: Int64) -> [UInt8] { [UInt8](repeating: UInt8(row), count: 5000) }

  /// Makes a database, adds rows of several pages one by one with a checkpoint between them, and closes.
  ///
  /// After a failure it goes on with the next step, as a program does that is asked for something else.
  private static func run(_ directory: Scratch) -> Progress {
    var progress = Progress()
    progress.attempt { progress in
      let connection = try open(directory)
      progress.attempt { _ in
        try connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
      }
      for row in rows {
        progress.attempt { progress in
          try insert(row, connection)
          progress.acknowledged.insert(row)
        }
        if row == rows.upperBound / 2 { progress.attempt { _ in try connection.checkpoint() } }
      }
      try connection.close()
    }
    return progress
  }

  private static func insert(_ row: Int64, _ connection: SQLiteConnection) throws {
    try connection.transaction {
      let statement = try connection.prepare("INSERT INTO t (n, body) VALUES (?1, ?2)")
      try statement.bind(row, at: 1)
      try statement.bind(body(row), at: 2)
      try statement.run()
    }
  }

  /// The rows that a new connection finds in a database that is whole.
  private static func rows(in directory: Scratch) throws -> Set<Int64> {
    let connection = try open(directory)
    try connection.checkIntegrity(.full)
    let tables = try connection.prepare("SELECT name FROM sqlite_schema WHERE name = 't'")
    guard try tables.step() else { return [] }
    let query = try connection.prepare("SELECT n, body FROM t")
    var found: Set<Int64> = []
    while try query.step() {
      let row = try query.int64(at: 0)
      #expect(try query.blob(at: 1) == body(row))
      found.insert(row)
    }
    return found
  }

  private static func operations() -> [FaultPlan.Operation] {
    let directory = Scratch()
    let plan = FaultPlan(prefix: directory.path)
    #expect(run(directory).errors.isEmpty)
    return plan.operations
  }

  @Test func `everything that changes a file is counted, below the directory and nowhere else`() throws {
    let (here, elsewhere) = (Scratch(), Scratch())
    let (plan, other) = (FaultPlan(prefix: here.path), FaultPlan(prefix: elsewhere.path))
    #expect(Self.run(here).acknowledged == Set(Self.rows))
    #expect(Set(plan.operations) == [.create, .write, .synchronize, .truncate, .delete])
    #expect(plan.operations.count == plan.operationCount)
    #expect(plan.operations == Self.operations())
    #expect(plan.failureCount == 0)
    #expect(other.operationCount == 0)
  }

  @Test(arguments: [FaultPlan.Fault.io, .tornIO, .full, .tornFull], [false, true])
  func `whichever operation fails, it is told and nothing acknowledged is lost`(
    _ fault: FaultPlan.Fault, _ repeatedly: Bool
  ) throws {
    for (index, operation) in Self.operations().enumerated() {
      let directory = Scratch()
      let plan = FaultPlan(prefix: directory.path)
      plan.failing(operation: index + 1, with: fault, repeatedly: repeatedly)
      let progress = Self.run(directory)
      let what = "operation \(index + 1), \(operation)"
      if plan.failureCount > 0, operation != .delete, operation != .truncate {
        // A log that is not deleted or cut is an empty log that takes up room.
        #expect(!progress.errors.isEmpty, "\(what)")
      }
      // What follows may be another thing, such as a table that was never made.
      if let error = progress.errors.first { #expect(Self.expected.contains(error.code.primary), "\(what): \(error)") }
      plan.disarm()
      let found = try Self.rows(in: directory)
      #expect(found.isSuperset(of: progress.acknowledged), "\(what): \(found)")
    }
  }

  /// What a device that fails, or is full, may be called: the rest would be riddles.
  private static let expected: [SQLiteResultCode] = [.inputOutput, .full, .cannotOpen]

  @Test func `whenever the power goes, everything acknowledged is there when it comes back`() throws {
    for index in Self.operations().indices {
      for seed in 0..<4 as Range<UInt64> {
        let directory = Scratch()
        let plan = FaultPlan(prefix: directory.path)
        plan.failing(operation: index + 1, with: .powerCut, seed: seed)
        let progress = Self.run(directory)
        // Nobody needs to know that an empty log was not deleted.
        #expect(!progress.errors.isEmpty || plan.operations.last == .delete)
        plan.disarm()
        let found = try Self.rows(in: directory)
        #expect(found.isSuperset(of: progress.acknowledged), "operation \(index + 1), seed \(seed): \(found)")
        #expect(found.count <= progress.acknowledged.count + 1)
      }
    }
  }

  @Test func `a power cut loses what was not synchronised`() throws {
    // Without synchronisation, some cut must lose something: else the test above would show nothing.
    var lost = 0
    for seed in 0..<8 as Range<UInt64> {
      let directory = Scratch()
      let plan = FaultPlan(prefix: directory.path)
      var acknowledged: Set<Int64> = []
      do {
        let connection = try Self.open(directory)
        try connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
        plan.failing(operation: plan.operationCount + 12, with: .powerCut, seed: seed)
        try connection.execute("PRAGMA synchronous = OFF")
        for row in Self.rows where (try? Self.insert(row, connection)) != nil { acknowledged.insert(row) }
      }
      #expect(!acknowledged.isEmpty && acknowledged.count < Self.rows.count)
      plan.disarm()
      lost += acknowledged.subtracting((try? Self.rows(in: directory)) ?? []).isEmpty ? 0 : 1
    }
    #expect(lost > 0)
  }

  @Test func `after a recovery the same connection works again`() throws {
    let directory = Scratch()
    let plan = FaultPlan(prefix: directory.path)
    let connection = try Self.open(directory)
    try connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
    plan.failing(operation: plan.operationCount + 1, with: .full, repeatedly: true)
    #expect(throws: SQLiteError.self) { try Self.insert(1, connection) }
    #expect(throws: SQLiteError.self) { try Self.insert(2, connection) }
    plan.recover()
    try Self.insert(3, connection)
    try connection.close()
    plan.disarm()
    #expect(try Self.rows(in: directory) == [3])
  }
}
