import CPostgreSQL
import Synchronization

/// libpq, loaded when the first connection is made and kept for the life of the process.
@safe
final class PostgreSQLLibrary: Sendable {
  /// The name of the library in Debian's libpq5 and other packages; looked up as the dynamic linker does.
  static let fileName = "libpq.so.5"

  private static let loaded = Mutex<PostgreSQLLibrary?>(nil)

  // Filled before the object is published; never changed or freed afterwards.
  /// The functions.
  nonisolated(unsafe) let table: UnsafePointer<cpostgresql_library>

  private init(fileName: String) throws(PostgreSQLError) {
    let table = UnsafeMutablePointer<cpostgresql_library>.allocate(capacity: 1)
    // A struct of pointers, all of them null.
    unsafe table.initialize(to: cpostgresql_library())
    // The name is NUL-terminated for the call, and `table` has room for what is written to it.
    guard unsafe cpostgresql_load(fileName, table) == 1 else {
      // No other reference to the pointer exists.
      unsafe table.deallocate()
      throw .libraryMissing
    }
    unsafe self.table = UnsafePointer(table)
  }

  /// The library; a failure is not remembered, so that installing it helps at once.
  ///
  /// - Throws: `PostgreSQLError.libraryMissing`.
  static func load() throws(PostgreSQLError) -> PostgreSQLLibrary {
    // Loading happens inside the lock, once in the life of the process: it is what the lock is for.
    try loaded.withLock { library throws(PostgreSQLError) in
      if let library { return library }
      let new = try PostgreSQLLibrary(fileName: fileName)
      library = new
      return new
    }
  }

  /// The value of a keyword in a connection string; nil where it is not there.
  ///
  /// - Throws: `PostgreSQLError.unreadable` for what is no connection string.
  func setting(_ keyword: String, in string: String) throws(PostgreSQLError) -> String? {
    var text = [CChar](repeating: 0, count: string.utf8.count + 1)
    let room = Int32(text.count)
    // The buffer lives until the closure returns.
    let found = unsafe text.withUnsafeMutableBufferPointer { text in
      // Both strings are NUL-terminated for the call, and the room is the buffer's.
      unsafe cpostgresql_setting(table, string, keyword, text.baseAddress, room)
    }
    guard found != -1 else { throw .unreadable }
    guard found == 1 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
