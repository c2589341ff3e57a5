import CSQLite
import Glibc

/// The one connection to one database file.
///
/// Opened so that no other process can open the file meanwhile (exclusive locking, set before the write-ahead log is
/// first touched: the log's index then lives in this process's memory), that a committed transaction survives a power
/// failure, and that a crafted file finds little to work with (sqlite.org/security.html). It is not `Sendable`: it
/// lives inside one actor, or one thread, from `init` to ``close()``. All SQL is a literal of the program; values are
/// bound.
@safe
package final class SQLiteConnection {
  /// How long opening waits for another process that is about to close the file.
  package static let openingTimeoutMilliseconds: Int32 = 5_000

  // A sqlite3 *, or nil when closed. Used by this class and its statements only, on whatever thread has the object:
  // it is not Sendable.
  private var handle: OpaquePointer?
  private var file: DatabaseFile?
  /// Whether the write-ahead log stays beside the database when the connection ends, instead of being copied into it:
  /// for files whose contents are not yet known to be right.
  package var keepsLog = false
  // A transaction that could not be rolled back when it failed.
  private var transactionIsLeftOver = false
  // Finished statements that can run again, by the address of their SQL: a literal, so it stays where it is.
  private var idleStatements: [UInt: OpaquePointer] = unsafe [:]

  /// Opens a database, or creates an empty one with mode 0600.
  ///
  /// A file that is refused is left as it was, its write-ahead log too.
  ///
  /// - Parameters:
  ///   - path: its directory exists.
  ///   - applicationID: what marks the file as this program's (sqlite.org/fileformat2.html, offset 68); not 0.
  ///   - depth: how thoroughly to look for damage before anything is set up; nil for not at all.
  ///   - mustHaveTables: whether a database without tables is refused (`.corrupt`, operation `tables`), and left as it was.
  /// - Throws: `SQLiteError` with `.cannotOpen` when the file cannot be created, is a link or no file, `.permission`
  ///   when others have access to it, `.locked` when this process has it open, `.busy` when another process has,
  ///   `.notADatabase` when it is something else or another program's, `.corrupt`.
  package init(
    path: String, applicationID: Int32, checking depth: IntegrityCheck? = nil, mustHaveTables: Bool = false
  ) throws(SQLiteError) {
    precondition(applicationID != 0, "0 is what every unmarked database has")
    let file = try DatabaseFile(path: path)
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX
      | SQLITE_OPEN_PRIVATECACHE
    var opened: OpaquePointer?
    // The path is a string that Swift terminates for the call; `opened` is written to.
    let status = unsafe sqlite3_open_v2(file.path, &opened, flags, nil)
    self.file = consume file
    unsafe handle = opened
    do throws(SQLiteError) {
      try check(status, .open)
      try configure(applicationID: applicationID, checking: depth, mustHaveTables: mustHaveTables)
      finalizeIdleStatements()
    } catch {
      keepsLog = true
      release()
      throw error
    }
  }

  deinit {
    release()
  }

  /// Copies the write-ahead log into the database, empties it, and closes the file.
  ///
  /// With ``keepsLog`` it only closes. Afterwards every use throws `.misuse`. Without it, `deinit` closes, and failures go unnoticed; nothing
  /// committed is lost either way.
  ///
  /// - Throws: `SQLiteError` when the copying fails, or `.busy` when a statement is still in use.
  package func close() throws(SQLiteError) {
    guard unsafe handle != nil else { return }
    if keepsLog { keepLog() } else { try checkpoint() }
    finalizeIdleStatements()
    // No statement of this class uses the handle after this call; those in use make it fail.
    try check(unsafe sqlite3_close(handle), .close)
    unsafe handle = nil
    file = nil
  }

  /// Copies the whole write-ahead log into the database and cuts it to nothing.
  ///
  /// SQLite does so on its own when the log has 256 pages, within the commit that fills it; a caller that does it when
  /// idle spares commits that work.
  ///
  /// - Throws: `SQLiteError`, such as `.locked` inside a transaction.
  package func checkpoint() throws(SQLiteError) {
    // The handle is this object's; a null one is answered with SQLITE_MISUSE.
    try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil), .checkpoint)
  }

  /// Compiles a statement, or takes it from the cache when the same literal was prepared before.
  ///
  /// - Parameter sql: one statement. The same literal may be in use twice.
  /// - Returns: a statement that is ready to be bound and run.
  /// - Throws: `SQLiteError`; `.misuse` when the connection is closed.
  package func prepare(_ sql: StaticString) throws(SQLiteError) -> Statement {
    let key = UInt(bitPattern: unsafe sql.utf8Start)
    // The cache's only reference passes to the statement.
    if let cached = unsafe idleStatements.removeValue(forKey: key) {
      return unsafe Statement(handle: cached, sql: sql, connection: self)
    }
    var prepared: OpaquePointer?
    let status = sql.withUTF8Buffer { buffer in
      // The literal's pointer and count belong together, and both spellings of a byte have the same layout.
      unsafe buffer.withMemoryRebound(to: CChar.self) { text in
        // As above; `prepared` is written to.
        unsafe sqlite3_prepare_v3(
          handle, text.baseAddress, Int32(text.count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
      }
    }
    try check(status, .statement(sql))
    // Only whether there is a statement: text without one compiles to nothing.
    guard let prepared = unsafe prepared else { throw SQLiteError(code: .misuse, operation: .statement(sql)) }
    // A new statement, to which nothing else refers.
    return unsafe Statement(handle: prepared, sql: sql, connection: self)
  }

  /// Runs a statement that has no parameters and whose rows, if any, do not matter.
  ///
  /// - Throws: `SQLiteError`.
  package func execute(_ sql: StaticString) throws(SQLiteError) {
    try prepare(sql).run()
  }

  /// Runs a closure as one transaction: all of it happens, durably, or nothing.
  ///
  /// The write lock is taken at the beginning (`BEGIN IMMEDIATE`). Transactions do not nest.
  ///
  /// - Throws: what `body` throws, after rolling back; `SQLiteError` when beginning or committing fails.
  package func transaction<R>(_ body: () throws -> R) throws -> R {
    if transactionIsLeftOver { try execute("ROLLBACK") }
    try execute("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // Some failures have already rolled back; where this one cannot, the next transaction tries again.
      if isInTransaction { try? execute("ROLLBACK") }
      transactionIsLeftOver = isInTransaction
      throw error
    }
  }

  /// Whether a transaction was begun and not ended.
  package var isInTransaction: Bool {
    // A closed connection has no transaction.
    unsafe handle != nil && sqlite3_get_autocommit(handle) == 0
  }

  /// How many rows the last INSERT, UPDATE or DELETE changed.
  package var changedRowCount: Int64 {
    // The handle is this object's and not null.
    unsafe handle == nil ? 0 : sqlite3_changes64(handle)
  }

  /// How often statements were run that are still compiled, each from its first step to its last: how a test counts them.
  package var runCount: Int {
    var (count, statement) = unsafe (0, sqlite3_next_stmt(handle, nil))
    // The handle is this object's, and a statement lives until it is finalized, which none is meanwhile.
    while let current = unsafe statement {
      // As above; the count is not reset.
      count += Int(unsafe sqlite3_stmt_status(current, SQLITE_STMTSTATUS_RUN, 0))
      unsafe statement = sqlite3_next_stmt(handle, current)
    }
    return count
  }

  /// The row identifier that the last INSERT made.
  package var lastInsertedRowID: Int64 {
    // The handle is this object's and not null.
    unsafe handle == nil ? 0 : sqlite3_last_insert_rowid(handle)
  }

  /// Turns a status into an error, unless it is a success.
  func check(_ status: Int32, _ operation: SQLiteError.Operation) throws(SQLiteError) {
    guard status != SQLITE_OK else { return }
    let code = SQLiteResultCode(rawValue: status)
    // The handle is this object's and not null.
    let said = unsafe handle == nil ? 0 : sqlite3_system_errno(handle)
    // SQLite keeps no number of some failures, and of others an earlier one.
    let mayBeFull = [.inputOutput, .cannotOpen].contains(code.primary) && ![EIO, EROFS, EACCES, EDQUOT].contains(said)
    let systemError = mayBeFull && file?.isDiskFull == true ? ENOSPC : said
    throw SQLiteError(code: code, operation: operation, systemError: systemError)
  }

  /// Lends the connection to the part of this module that sets it up.
  @unsafe
  func withHandle<R>(_ body: (OpaquePointer?) -> R) -> R {
    // The handle stays open until the closure returns.
    unsafe body(handle)
  }

  /// Whether there was a write-ahead log before this connection opened the file.
  var hadLog: Bool { file?.hadLog ?? false }

  /// Caches a statement that was reset, for the next time its SQL is prepared.
  @unsafe
  func recycle(_ statement: OpaquePointer, sql: StaticString) {
    let key = UInt(bitPattern: unsafe sql.utf8Start)
    // The caller's only reference passes to the cache, or ends here.
    if unsafe handle != nil, unsafe idleStatements[key] == nil {
      // As above.
      unsafe idleStatements[key] = statement
    } else {
      // As above.
      unsafe sqlite3_finalize(statement)
    }
  }

  private func finalizeIdleStatements() {
    // The cache owns them, and forgets each before it ends.
    while let (_, statement) = unsafe idleStatements.popFirst() { unsafe sqlite3_finalize(statement) }
  }

  private func release() {
    finalizeIdleStatements()
    if keepsLog { keepLog() }
    // Statements hold the connection, so none is left when `deinit` calls, and there never was one when `init` does.
    unsafe sqlite3_close_v2(handle)
    unsafe handle = nil
    file = nil
  }
}
