import CSQLite

/// One use of a prepared statement: bind, step, read; the end of its life resets it and returns it to the cache.
///
/// Parameters are numbered from 1 and columns from 0, as in SQLite. After the last row, ``step()`` has reset the
/// statement, so that it can be stepped again with the same or other values.
@safe
package struct Statement: ~Copyable {
  // A sqlite3_stmt * that only this value uses.
  private let handle: OpaquePointer
  private let sql: StaticString
  // Keeps the connection open.
  private let connection: SQLiteConnection

  /// Takes over a compiled statement.
  ///
  /// - Parameters:
  ///   - handle: reset, with nothing bound; passes to this value.
  ///   - sql: what it was compiled from, and the key it goes back to the cache under.
  ///   - connection: whose it is.
  @unsafe
  init(handle: OpaquePointer, sql: StaticString, connection: SQLiteConnection) {
    unsafe self.handle = handle
    self.sql = sql
    self.connection = connection
  }

  deinit {
    // What was bound may be sensitive, and is not needed any more. The only reference passes back to the connection.
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
    unsafe connection.recycle(handle, sql: sql)
  }

  /// Gives a parameter an integer.
  ///
  /// - Throws: `SQLiteError` with `.range` when there is no such parameter, `.misuse` between rows; the same for all.
  package func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
    // The handle is this value's.
    try check(unsafe sqlite3_bind_int64(handle, index, value))
  }

  /// Gives a parameter a text.
  ///
  /// - Throws: `SQLiteError`, also `.tooBig`.
  package func bind(_ value: String, at index: Int32) throws(SQLiteError) {
    var value = value
    // Pointer and count belong together; SQLite copies. An empty text has a pointer too.
    let status = value.withUTF8 { buffer in
      unsafe buffer.withMemoryRebound(to: CChar.self) { text in
        unsafe text.baseAddress.map { unsafe csqlite_bind_text_copy(handle, index, $0, UInt64(text.count)) }
          ?? csqlite_bind_text_copy(handle, index, "", 0)
      }
    }
    try check(status)
  }

  /// Gives a parameter a blob.
  ///
  /// - Parameters:
  ///   - value: copied into SQLite's memory, which is not wiped: sealed or public bytes only.
  ///   - index: from 1.
  /// - Throws: `SQLiteError`, also `.tooBig`.
  package func bind(_ value: Span<UInt8>, at index: Int32) throws(SQLiteError) {
    // Pointer and count belong together; SQLite copies. A null pointer would bind NULL instead of an empty blob.
    let status = unsafe value.withUnsafeBytes { bytes in
      unsafe bytes.baseAddress.map { unsafe csqlite_bind_blob_copy(handle, index, $0, UInt64(bytes.count)) }
        ?? sqlite3_bind_zeroblob(handle, index, 0)
    }
    try check(status)
  }

  /// Gives a parameter a blob, as the other form does.
  ///
  /// - Throws: `SQLiteError`, also `.tooBig`.
  package func bind(_ value: [UInt8], at index: Int32) throws(SQLiteError) {
    try bind(value.span, at: index)
  }

  /// Gives a parameter NULL, which is also what it has when nothing is bound.
  ///
  /// - Throws: `SQLiteError`.
  package func bindNull(at index: Int32) throws(SQLiteError) {
    // The handle is this value's.
    try check(unsafe sqlite3_bind_null(handle, index))
  }

  /// Goes to the next row.
  ///
  /// - Returns: whether there is one; if not, the statement is done and reset.
  /// - Throws: `SQLiteError`; the statement is reset then.
  package func step() throws(SQLiteError) -> Bool {
    // The handle is this value's.
    let status = unsafe sqlite3_step(handle)
    if status == SQLITE_ROW { return true }
    // As above; its result repeats the one of the step.
    unsafe sqlite3_reset(handle)
    guard status == SQLITE_DONE else {
      try check(status)
      return false
    }
    return false
  }

  /// Steps to the end, whatever rows there are.
  ///
  /// - Throws: `SQLiteError`.
  package func run() throws(SQLiteError) {
    while try step() {}
  }

  /// Whether a column of the current row is NULL.
  package func isNull(at column: Int32) -> Bool {
    type(of: column) == SQLITE_NULL
  }

  /// An integer of the current row.
  ///
  /// - Throws: `SQLiteError` with `.mismatch` when the column has another type: nothing is converted.
  package func int64(at column: Int32) throws(SQLiteError) -> Int64 {
    try require(SQLITE_INTEGER, at: column)
    // The handle is this value's and on a row.
    return unsafe sqlite3_column_int64(handle, column)
  }

  /// A text of the current row.
  ///
  /// - Throws: `SQLiteError` with `.mismatch` when the column has another type, or is not UTF-8.
  package func text(at column: Int32) throws(SQLiteError) -> String {
    try require(SQLITE_TEXT, at: column)
    guard let text = convertedText(at: column) else { throw mismatch }
    return text
  }

  /// A copy of a blob of the current row.
  ///
  /// - Throws: `SQLiteError` with `.mismatch` when the column has another type.
  package func blob(at column: Int32) throws(SQLiteError) -> [UInt8] {
    // The span vouches for the length, and the array copies the bytes.
    try withBlob(at: column) { bytes in unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) } }
  }

  /// Lends a blob of the current row.
  ///
  /// - Throws: `SQLiteError` with `.mismatch` when the column has another type.
  package func withBlob<R>(at column: Int32, _ body: (Span<UInt8>) -> R) throws(SQLiteError) -> R {
    try require(SQLITE_BLOB, at: column)
    return lendBlob(at: column, body)
  }

  /// Lends a blob of the current row to a closure that can fail.
  ///
  /// - Throws: what `body` throws, or `SQLiteError` with `.mismatch` when the column has another type.
  package func withBlob<R>(at column: Int32, _ body: (Span<UInt8>) throws -> R) throws -> R {
    try require(SQLITE_BLOB, at: column)
    return try lendBlob(at: column, body)
  }

  /// A column as text, converted where it is something else; `nil` when it is NULL or not UTF-8.
  func convertedText(at column: Int32) -> String? {
    // The text lives until the next call on this statement; its length is asked for after it, as SQLite wants it.
    guard let start = unsafe sqlite3_column_text(handle, column) else { return nil }
    // As above.
    let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    guard let text = unsafe try? UTF8Span(validating: bytes.span) else { return nil }
    return String(copying: text)
  }

  private func lendBlob<R, E: Error>(at column: Int32, _ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    // The blob lives until the next call on this statement, which the closure cannot outlast; null when empty.
    let start = unsafe sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
    // As above.
    let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    // As above.
    return try body(unsafe bytes.span)
  }

  private func type(of column: Int32) -> Int32 {
    // The handle is this value's; beyond the last column, or on no row, the type is NULL.
    unsafe sqlite3_column_type(handle, column)
  }

  private func require(_ expected: Int32, at column: Int32) throws(SQLiteError) {
    guard type(of: column) == expected else { throw mismatch }
  }

  private var mismatch: SQLiteError { SQLiteError(code: .mismatch, operation: .column(sql)) }

  private func check(_ status: Int32) throws(SQLiteError) {
    try connection.check(status, .statement(sql))
  }
}
