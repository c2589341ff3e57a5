import TestSupport
import Testing

@testable import SQLite

@Suite(.standardTimeLimit) struct StatementTests {
  // Ended before its directory is removed, and with it the file's number given to another file.
  private let connection: SQLiteConnection
  private let directory = Scratch()

  init() throws {
    connection = try SQLiteConnection(path: directory.file("test.db"), applicationID: 1)
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c BLOB) STRICT")
  }

  private func code(_ body: () throws -> Void) -> SQLiteResultCode? {
    do {
      try body()
      return .ok
    } catch { return (error as? SQLiteError)?.code }
  }

  private func insert(_ a: Int64?, _ b: String?, _ c: [UInt8]?) throws {
    let statement = try connection.prepare("INSERT INTO t (a, b, c) VALUES (?1, ?2, ?3)")
    if let a { try statement.bind(a, at: 1) }
    if let b { try statement.bind(b, at: 2) } else { try statement.bindNull(at: 2) }
    if let c { try statement.bind(c, at: 3) }
    try statement.run()
  }

  @Test(
    arguments: [
      (0, "", []), (Int64.min, "a\u{0}b'; DROP TABLE t; --", [0]), (.max, "e\u{301} é 🔑", Array(0...255)),
      (-1, String(repeating: "x", count: 100_000), [UInt8](repeating: 7, count: 100_000)),
    ] as [(Int64, String, [UInt8])])
  func `values come back byte for byte`(a: Int64, b: String, c: [UInt8]) throws {
    try insert(a, b, c)
    #expect(connection.lastInsertedRowID == 1)
    #expect(connection.changedRowCount == 1)
    let select = try connection.prepare("SELECT a, b, c FROM t")
    var rows = 0
    while try select.step() {
      rows += 1
      let (readA, readB, readC) = (try select.int64(at: 0), try select.text(at: 1), try select.blob(at: 2))
      #expect(readA == a)
      #expect(Array(readB.utf8) == Array(b.utf8))
      #expect(readC == c)
      let count = try select.withBlob(at: 2) { $0.count }
      #expect(count == c.count)
    }
    #expect(rows == 1)
  }

  @Test func `what is not bound is NULL, also when the statement was used before`() throws {
    try insert(1, "x", [1])
    try insert(nil, nil, nil)
    let select = try connection.prepare("SELECT a, b, c FROM t WHERE id = 2")
    #expect(try select.step())
    let nulls = (Int32(0)...2).map { select.isNull(at: $0) }
    #expect(nulls == [true, true, true])
  }

  @Test func `nothing is converted`() throws {
    try insert(1, "2", [3])
    let select = try connection.prepare("SELECT a, b, c FROM t")
    #expect(try select.step())
    #expect(code { _ = try select.text(at: 0) } == .mismatch)
    #expect(code { _ = try select.int64(at: 1) } == .mismatch)
    #expect(code { _ = try select.blob(at: 1) } == .mismatch)
    #expect(code { _ = try select.text(at: 2) } == .mismatch)
    #expect(code { _ = try select.int64(at: 3) } == .mismatch)
  }

  @Test func `text that is not UTF-8 is refused`() throws {
    let select = try connection.prepare("SELECT CAST(x'ff' AS TEXT)")
    #expect(try select.step())
    #expect(code { _ = try select.text(at: 0) } == .mismatch)
  }

  @Test func `the same SQL can be in use twice, and is used again`() throws {
    for value in Int64(1)...3 { try insert(value, nil, nil) }
    func sums(_ depth: Int) throws -> Int64 {
      guard depth > 0 else { return 0 }
      let select = try connection.prepare("SELECT a FROM t")
      var sum: Int64 = 0
      while try select.step() { sum += try select.int64(at: 0) + sums(depth - 1) }
      return sum
    }
    #expect(try sums(3) == 6 + 3 * (6 + 3 * 6))
    #expect(try sums(1) == 6)
  }

  @Test func `a statement runs again after its last row`() throws {
    try insert(5, nil, nil)
    let select = try connection.prepare("SELECT a FROM t WHERE a = ?1")
    try select.bind(Int64(5), at: 1)
    for _ in 0..<2 {
      #expect(try select.step())
      #expect(try !select.step())
    }
    try select.bind(Int64(6), at: 1)
    #expect(try !select.step())
  }

  @Test func `wrong uses have their own codes`() throws {
    #expect(code { _ = try connection.prepare("SELEC 1") } == .error)
    #expect(code { _ = try connection.prepare("") } == .misuse)
    let select = try connection.prepare("SELECT ?1")
    #expect(code { try select.bind(Int64(1), at: 2) } == .range)
    #expect(code { try select.bind([UInt8](repeating: 0, count: (4 << 20) + 1), at: 1) } == .tooBig)
    #expect(try select.step())
    #expect(code { try select.bind(Int64(1), at: 1) } == .misuse)
  }

  @Test func `an error names code and statement but no value`() throws {
    try connection.execute("CREATE TABLE u (x TEXT UNIQUE) STRICT")
    func insert() throws(SQLiteError) {
      let statement = try connection.prepare("INSERT INTO u VALUES (?1)")
      try statement.bind("obviously-fake-value", at: 1)
      try statement.run()
    }
    try insert()
    do {
      try insert()
      Issue.record("a second row was accepted")
    } catch {
      #expect(error.code == .uniqueConstraint)
      #expect(error.code.primary == .constraint)
      #expect("\(error)".contains("INSERT INTO u VALUES (?1)"))
      #expect("\(error)".contains("(2067)"))
      var dumped = String(reflecting: error)
      dump(error, to: &dumped)
      #expect(!dumped.contains("fake"))
    }
  }
}
