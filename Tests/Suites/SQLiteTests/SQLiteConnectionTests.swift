import Glibc
import TestSupport
import Testing

@testable import SQLite

@Suite(.standardTimeLimit) struct SQLiteConnectionTests: DatabaseOpening {
  let directory = Scratch()

  private func value(_ pragma: StaticString, _ connection: SQLiteConnection) throws -> String? {
    let statement = try connection.prepare(pragma)
    return try statement.step() ? statement.convertedText(at: 0) : nil
  }

  private static let pragmas: [(StaticString, String)] = [
    ("PRAGMA locking_mode", "exclusive"), ("PRAGMA journal_mode", "wal"), ("PRAGMA synchronous", "2"),
    ("PRAGMA secure_delete", "1"), ("PRAGMA foreign_keys", "1"), ("PRAGMA cell_size_check", "1"),
    ("PRAGMA trusted_schema", "0"), ("PRAGMA temp_store", "2"), ("PRAGMA mmap_size", "0"),
    ("PRAGMA auto_vacuum", "2"), ("PRAGMA busy_timeout", "5000"), ("PRAGMA user_version", "0"),
    ("PRAGMA application_id", "1094865989"),
  ]

  @Test func `every setting is in force, at first and after reopening`() throws {
    for _ in 0..<2 {
      let connection = try open()
      for (pragma, expected) in Self.pragmas {
        #expect(try value(pragma, connection) == expected, "\(pragma)")
      }
      try connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
      try connection.checkIntegrity(.quick)
      try connection.checkIntegrity(.full)
      try connection.close()
    }
  }

  @Test func `what a crafted schema would need is off`() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE t (x INTEGER) STRICT")
    try connection.execute("CREATE VIEW v AS SELECT x FROM t")
    #expect(code { try connection.execute("SELECT * FROM v") } == .error)
    #expect(code { try connection.execute("SELECT \"no such column\" FROM t") } == .error)
    #expect(code { try connection.execute("SELECT load_extension('x')") } == .error)
    #expect(code { try connection.execute("INSERT INTO sqlite_schema VALUES (1, 2, 3, 4, 5)") } == .error)
  }

  @Test func `foreign keys are enforced, cascades included`() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT")
    try connection.execute("CREATE TABLE child (id INTEGER REFERENCES parent ON DELETE CASCADE) STRICT")
    #expect(code { try connection.execute("INSERT INTO child VALUES (1)") } == .foreignKeyConstraint)
    try connection.execute("INSERT INTO parent VALUES (1)")
    try connection.execute("INSERT INTO child VALUES (1)")
    try connection.execute("DELETE FROM parent")
    #expect(try value("SELECT count(*) FROM child", connection) == "0")
  }

  @Test func `rows survive closing, and losing the connection without closing`() throws {
    do {
      let connection = try open()
      try connection.execute("CREATE TABLE t (x INTEGER) STRICT")
      try connection.execute("INSERT INTO t VALUES (1)")
      try connection.close()
    }
    do { try open().execute("INSERT INTO t VALUES (2)") }
    #expect(try value("SELECT group_concat(x) FROM t", open()) == "1,2")
  }

  @Test func `a checkpoint empties the log and a closed connection leaves none`() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE t (x)")
    #expect(try #require(directory.size("test.db-wal")) > 0)
    try connection.checkpoint()
    #expect(directory.size("test.db-wal") == 0)
    try connection.close()
    #expect(directory.names == ["test.db"])
    #expect(code { try connection.execute("SELECT 1") } == .misuse)
    try connection.close()
  }

  @Test func `closing waits for nobody and says when a statement is in use`() throws {
    let connection = try open()
    do {
      let statement = try connection.prepare("SELECT 1")
      #expect(code { try connection.close() } == .busy)
      #expect(try statement.step())
    }
    try connection.close()
  }

  @Test func `a transaction happens as a whole or not at all`() throws {
    struct Refusal: Error {}
    let connection = try open()
    try connection.execute("CREATE TABLE t (x INTEGER PRIMARY KEY) STRICT")
    try connection.transaction { try connection.execute("INSERT INTO t VALUES (1)") }
    #expect(throws: Refusal.self) {
      try connection.transaction {
        try connection.execute("INSERT INTO t VALUES (2)")
        throw Refusal()
      }
    }
    #expect(
      code {
        try connection.transaction {
          try connection.execute("INSERT INTO t VALUES (3)")
          try connection.execute("INSERT INTO t VALUES (1)")
        }
      } == .primaryKeyConstraint)
    #expect(!connection.isInTransaction)
    #expect(try value("SELECT group_concat(x) FROM t", connection) == "1")
    #expect(try connection.transaction { 42 } == 42)
  }

  @Test func `a commit that fails leaves nothing behind, and a connection that works`() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT")
    try connection.execute(
      "CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED) STRICT")
    for _ in 0..<2 {
      let found = code { try connection.transaction { try connection.execute("INSERT INTO child VALUES (1)") } }
      #expect(found == .foreignKeyConstraint)
      #expect(!connection.isInTransaction)
    }
    try connection.transaction { try connection.execute("INSERT INTO parent VALUES (1)") }
    #expect(try value("SELECT count(*) FROM child", connection) == "0")
    #expect(try value("SELECT count(*) FROM parent", connection) == "1")
  }

  @Test func `a database without room says so, undoes the change and goes on`() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE t (x BLOB) STRICT")
    try connection.execute("PRAGMA max_page_count = 20")
    let found = code {
      try connection.transaction {
        try connection.execute("INSERT INTO t VALUES (zeroblob(10))")
        try connection.execute("INSERT INTO t VALUES (zeroblob(1000000))")
      }
    }
    #expect(found == .full)
    #expect(try value("SELECT count(*) FROM t", connection) == "0")
    try connection.transaction { try connection.execute("INSERT INTO t VALUES (zeroblob(10))") }
    #expect(try value("SELECT count(*) FROM t", connection) == "1")
  }

  @Test func `a log is kept where it is told, and copied where not`() throws {
    for keepsLog in [true, false] {
      try open().execute("CREATE TABLE IF NOT EXISTS t (x)")
      var log: [UInt8] = []
      do {
        let connection = try open()
        try connection.execute("INSERT INTO t VALUES (1)")
        log = try directory.bytes(of: "test.db-wal")
        try directory.write(directory.bytes(of: "test.db"), to: "copy.db")
        try directory.write(log, to: "copy.db-wal")
        try connection.close()
      }
      let database = try directory.bytes(of: "copy.db")
      let copy = try open("copy.db")
      copy.keepsLog = keepsLog
      try copy.close()
      #expect(directory.names.contains("copy.db-wal") == keepsLog)
      #expect(try (directory.bytes(of: "copy.db") == database) == keepsLog)
      if keepsLog { #expect(try directory.bytes(of: "copy.db-wal") == log) }
      #expect(try value("SELECT count(*) FROM t", open("copy.db")) != "0")
      for name in ["copy.db", "copy.db-wal"] { unlink(directory.file(name)) }
    }
  }

  @Test func `a copy is a database of its own`() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE t (x INTEGER) STRICT")
    try connection.execute("INSERT INTO t VALUES (7)")
    try connection.copy(into: directory.file("copy.db"))
    chmod(directory.file("copy.db"), 0o600)
    #expect(try value("SELECT x FROM t", open("copy.db")) == "7")
    #expect(code { try connection.copy(into: directory.file("copy.db")) } == .error)
  }

  @Test func `transactions do not nest, and the attempt undoes the outer one`() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE t (x)")
    let found = code {
      try connection.transaction {
        try connection.execute("INSERT INTO t VALUES (1)")
        try connection.transaction {}
      }
    }
    #expect(found == .error)
    #expect(!connection.isInTransaction)
    #expect(try value("SELECT count(*) FROM t", connection) == "0")
  }

  /// That this compiles is the point: an actor can own the connection.
  private actor Owner {
    private let connection: SQLiteConnection

    init(path: String, applicationID: Int32) throws {
      connection = try SQLiteConnection(path: path, applicationID: applicationID)
    }

    func count() throws -> Int64 {
      let statement = try connection.prepare("SELECT count(*) FROM sqlite_schema")
      _ = try statement.step()
      return try statement.int64(at: 0)
    }
  }

  @Test func `a connection lives inside an actor`() async throws {
    let owner = try Owner(path: directory.file("test.db"), applicationID: Self.application)
    #expect(try await owner.count() == 0)
  }
}
