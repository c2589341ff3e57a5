import Glibc
import TestSupport
import Testing

@testable import SQLite

/// Which files are opened as a database, and by whom.
@Suite(.standardTimeLimit) struct DatabaseFileTests: DatabaseOpening {
  let directory = Scratch()

  @Test(.enabled(if: access("/usr/bin/sqlite3", X_OK) == 0))
  func `another process finds the database locked from the first moment to the last`() throws {
    let connection = try open()
    let command = ["/usr/bin/sqlite3", directory.file("test.db"), "SELECT count(*) FROM sqlite_schema;"]
    #expect(try output(of: command).contains("locked"))
    try connection.execute("CREATE TABLE t (x)")
    #expect(try output(of: command).contains("locked"))
    #expect(directory.names == ["test.db", "test.db-wal"])
    try connection.close()
    #expect(try output(of: command) == "1\n")
  }

  @Test func `this process opens a file once, by whatever name`() throws {
    let connection = try open()
    #expect(code { _ = try open() } == .locked)
    #expect(code { _ = try open("./test.db") } == .locked)
    try connection.close()
    try open().close()
  }

  @Test func `files are private also when the umask takes nothing away`() throws {
    let previous = umask(0)
    defer { umask(previous) }
    let connection = try open()
    try connection.execute("CREATE TABLE t (x)")
    #expect(directory.mode("test.db") == 0o600)
    #expect(directory.mode("test.db-wal") == 0o600)
  }

  @Test func `a link, a directory and a file that others can read are refused`() throws {
    try open().close()
    #expect(symlink(directory.file("test.db"), directory.file("link.db")) == 0)
    #expect(code { _ = try open("link.db") } == .cannotOpen)
    #expect(symlink(directory.file("absent.db"), directory.file("dangling.db")) == 0)
    #expect(code { _ = try open("dangling.db") } == .cannotOpen)
    #expect(directory.mode("absent.db") == nil)
    chmod(directory.file("test.db"), 0o640)
    #expect(code { _ = try open() } == .permission)
    #expect(code { _ = try SQLiteConnection(path: directory.path, applicationID: 1) } == .cannotOpen)
    #expect(code { _ = try open("absent/test.db") } == .cannotOpen)
    #expect(code { _ = try SQLiteConnection(path: "", applicationID: 1) } == .cannotOpen)
  }

  @Test func `a second name is no danger, as a backup program makes it, nor is one of the log`() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE t (x)")
    for suffix in ["", "-wal"] {
      #expect(link(directory.file("test.db\(suffix)"), directory.file("backup.db\(suffix)")) == 0)
    }
    try connection.close()
    try open().close()
  }

  @Test(arguments: ["-wal", "-journal", "-shm"])
  func `a file beside it that is another one by a second name is refused, and left as it is`(
    _ suffix: String
  ) throws {
    try open().close()
    let text = Array("a letter to somebody".utf8)
    let file = try #require(fopen(directory.file("letter"), "w"))
    fwrite(text, 1, text.count, file)
    fclose(file)
    #expect(link(directory.file("letter"), directory.file("test.db\(suffix)")) == 0)
    #expect(code { _ = try open() } == .cannotOpen)
    var status = stat()
    #expect(stat(directory.file("letter"), &status) == 0 && status.st_size == text.count)
  }

  @Test func `a directory may be reached through a link`() throws {
    let link = "\(directory.path)-link"
    #expect(symlink(directory.path, link) == 0)
    defer { unlink(link) }
    try SQLiteConnection(path: "\(link)/test.db", applicationID: Self.application).close()
    #expect(directory.mode("test.db") == 0o600)
  }

  @Test func `another program's database and no database at all are refused`() throws {
    try open().close()
    #expect(
      code { _ = try SQLiteConnection(path: directory.file("test.db"), applicationID: 1) } == .notADatabase)
    try open().close()
    let file = try #require(fopen(directory.file("noise.db"), "w"))
    fputs(String(repeating: "no database", count: 1_000), file)
    fclose(file)
    chmod(directory.file("noise.db"), 0o600)
    #expect(code { _ = try open("noise.db") } == .notADatabase)
    #expect(code { _ = try open("noise.db") } == .notADatabase)
  }
}
