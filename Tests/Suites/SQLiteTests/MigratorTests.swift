import TestSupport
import Testing

@testable import SQLite

@Suite(.standardTimeLimit) struct MigratorTests {
  private let directory = Scratch()

  private func open() throws -> SQLiteConnection {
    try SQLiteConnection(path: directory.file("test.db"), applicationID: 1)
  }

  private let first = Migrator.Migration(
    1, statements: ["CREATE TABLE a (x INTEGER) STRICT", "INSERT INTO a VALUES (1)"])
  private let second = Migrator.Migration(2) { try $0.execute("ALTER TABLE a ADD COLUMN y TEXT") }

  private func tables(_ connection: SQLiteConnection) throws -> Int64 {
    let statement = try connection.prepare("SELECT count(*) FROM sqlite_schema")
    _ = try statement.step()
    return try statement.int64(at: 0)
  }

  @Test func `each step is applied once, in order`() throws {
    let connection = try open()
    #expect(try Migrator([first]).migrate(connection) == 0)
    #expect(try connection.schemaVersion() == 1)
    #expect(try Migrator([first, second]).migrate(connection) == 1)
    #expect(try Migrator([first, second]).migrate(connection) == 2)
    #expect(try connection.schemaVersion() == 2)
    try connection.execute("INSERT INTO a (x, y) VALUES (2, 'z')")
    try connection.close()
    let again = try open()
    #expect(try Migrator([first, second]).migrate(again) == 2)
  }

  @Test func `a new database gets the last schema at once, an old one step by step`() throws {
    var creations = 0
    let migrator = Migrator([first, second]) { connection in
      creations += 1
      try connection.execute("CREATE TABLE a (x INTEGER, y TEXT) STRICT")
    }
    let connection = try open()
    #expect(try migrator.migrate(connection) == 0)
    #expect(try connection.schemaVersion() == 2)
    #expect(try migrator.migrate(connection) == 2)
    let old = try SQLiteConnection(path: directory.file("old.db"), applicationID: 1)
    try Migrator([first]).migrate(old)
    #expect(try migrator.migrate(old) == 1)
    #expect(try old.schemaVersion() == 2 && creations == 1)
  }

  @Test func `a newer schema is refused and left as it is`() throws {
    let connection = try open()
    try Migrator([first, second]).migrate(connection)
    #expect {
      try Migrator([first]).migrate(connection)
    } throws: { error in
      guard case .newerSchema(found: 2, supported: 1)? = error as? MigrationError else { return false }
      return true
    }
    #expect(try connection.schemaVersion() == 2)
  }

  @Test func `a failing step is rolled back and the steps before it stay`() throws {
    struct Refusal: Error {}
    let connection = try open()
    let failing = Migrator.Migration(2) {
      try $0.execute("CREATE TABLE b (x)")
      throw Refusal()
    }
    #expect {
      try Migrator([first, failing]).migrate(connection)
    } throws: { error in
      guard case .failed(version: 2, cause: is Refusal)? = error as? MigrationError else { return false }
      return true
    }
    #expect(try connection.schemaVersion() == 1)
    #expect(try tables(connection) == 1)
    #expect(try Migrator([first, second]).migrate(connection) == 1)
  }
}
