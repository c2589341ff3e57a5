import CSQLite

extension SQLiteConnection {
  /// The depth of ``checkIntegrity(_:)``.
  package enum IntegrityCheck: Sendable {
    /// Pages and rows: for every start.
    case quick
    /// Also that indexes agree with their tables: after an unclean end.
    case full
  }

  /// Looks for damage, and for rows that refer to nothing.
  ///
  /// - Throws: `SQLiteError` with `.corrupt` when there is any.
  package func checkIntegrity(_ depth: IntegrityCheck) throws(SQLiteError) {
    let answer =
      switch depth {
      case .quick: try firstText(of: "PRAGMA quick_check(1)")
      case .full: try firstText(of: "PRAGMA integrity_check(1)")
      }
    guard answer == "ok", try firstText(of: "PRAGMA foreign_key_check") == nil else {
      throw SQLiteError(code: .corrupt, operation: .check)
    }
  }

  /// Whether the database has any table.
  ///
  /// - Throws: `SQLiteError`.
  package func hasTables() throws(SQLiteError) -> Bool {
    try integer(of: "SELECT count(*) FROM sqlite_schema") > 0
  }

  /// The number of the schema that the database has, which `Migrator` sets; 0 in a new one.
  ///
  /// - Throws: `SQLiteError`.
  package func schemaVersion() throws(SQLiteError) -> Int32 {
    try integer(of: "PRAGMA user_version")
  }

  /// Leaves a write-ahead log that was there before where it is when the connection ends
  /// (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE); one that this connection has made goes with it.
  func keepLog() {
    guard hadLog else { return }
    // The handle is open for the length of the call; where it is not, nothing is left to be closed.
    _ = unsafe withHandle { unsafe $0 == nil ? 0 : csqlite_db_config($0, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
  }

  /// Sets the number of the schema, as part of the current transaction.
  package func setSchemaVersion(_ version: Int32) throws(SQLiteError) {
    try runUncached("PRAGMA user_version = \(version)")
  }

  /// Everything between opening the file and the first statement, in an order that matters.
  func configure(
    applicationID: Int32, checking depth: IntegrityCheck?, mustHaveTables: Bool
  ) throws(SQLiteError) {
    try restrict()
    // Before anything reads the file: an exclusive connection never shares the index of the write-ahead log.
    try set("PRAGMA locking_mode = EXCLUSIVE", thenRead: "PRAGMA locking_mode", expecting: "exclusive")
    if mustHaveTables, try !hasTables() { throw SQLiteError(code: .corrupt, operation: .tables) }
    try adopt(applicationID: applicationID)
    if let depth { try checkIntegrity(depth) }
    for setting in Self.settings {
      try set(setting.pragma, thenRead: setting.reading, expecting: setting.expected)
    }
    // Takes the lock now, not when the first row is written.
    try execute("BEGIN IMMEDIATE")
    try execute("COMMIT")
  }

  /// Sets what sqlite.org/security.html recommends where a file may have been crafted, and limits that no honest use
  /// meets.
  private func restrict() throws(SQLiteError) {
    let switches: [(option: Int32, value: Int32)] = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
      (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_ENABLE_FKEY, 1),
    ]
    for (option, value) in switches {
      // The handle is open for the length of the call.
      try check(unsafe withHandle { unsafe csqlite_db_config($0, option, value) }, .configure("db_config"))
    }
    let limits: [(limit: Int32, value: Int32)] = [
      // A sealed record is a few KiB; a row of 4 MiB is no record of ours.
      (SQLITE_LIMIT_LENGTH, 4 << 20),
      // The longest statement of the program is a schema.
      (SQLITE_LIMIT_SQL_LENGTH, 64 << 10),
      // VACUUM INTO needs one.
      (SQLITE_LIMIT_ATTACHED, 1),
      // A hundred times the longest program that the statements here compile to.
      (SQLITE_LIMIT_VDBE_OP, 100_000),
    ]
    for (limit, value) in limits {
      // The handle is open for the length of the call, which returns the previous limit.
      _ = unsafe withHandle { unsafe sqlite3_limit($0, limit, value) }
    }
    // As above.
    let status = unsafe withHandle { unsafe sqlite3_busy_timeout($0, Self.openingTimeoutMilliseconds) }
    try check(status, .configure("busy_timeout"))
  }

  private typealias Setting = (pragma: StaticString, reading: StaticString, expected: String)

  /// Set in this order, each read back.
  private static let settings: [Setting] = [
    ("PRAGMA journal_mode = WAL", "PRAGMA journal_mode", "wal"),
    // Every commit is on the disk before it returns.
    ("PRAGMA synchronous = FULL", "PRAGMA synchronous", "2"),
    ("PRAGMA secure_delete = ON", "PRAGMA secure_delete", "1"),
    ("PRAGMA cell_size_check = ON", "PRAGMA cell_size_check", "1"),
    ("PRAGMA trusted_schema = OFF", "PRAGMA trusted_schema", "0"),
    // Nothing temporary reaches a disk.
    ("PRAGMA temp_store = MEMORY", "PRAGMA temp_store", "2"),
    ("PRAGMA mmap_size = 0", "PRAGMA mmap_size", "0"),
    // In pages: what is left to the commit that fills the log, when `checkpoint()` is not called.
    ("PRAGMA wal_autocheckpoint = 256", "PRAGMA wal_autocheckpoint", "256"),
    // In bytes: a log that once grew does not stay large.
    ("PRAGMA journal_size_limit = 4194304", "PRAGMA journal_size_limit", "4194304"),
  ]

  /// Marks an empty database as this program's; refuses another program's before anything is changed in it.
  private func adopt(applicationID: Int32) throws(SQLiteError) {
    let found = try integer(of: "PRAGMA application_id")
    if found == applicationID { return }
    guard found == 0, try integer(of: "PRAGMA schema_version") == 0 else {
      throw SQLiteError(code: .notADatabase, operation: .configure("application_id"))
    }
    // Only takes effect before the first page is written.
    try execute("PRAGMA auto_vacuum = INCREMENTAL")
    try runUncached("PRAGMA application_id = \(applicationID)")
  }

  private func set(
    _ pragma: StaticString, thenRead reading: StaticString, expecting expected: String
  ) throws(SQLiteError) {
    try execute(pragma)
    guard try firstText(of: reading) == expected else { throw SQLiteError(code: .error, operation: .configure(pragma)) }
  }

  /// Writes a compact copy of the database, without its log, into a file that does not exist or is empty.
  ///
  /// - Parameter path: the copy gets the access rights of the empty file.
  /// - Throws: `SQLiteError`, such as `.error` when there is something in the file.
  package func copy(into path: String) throws(SQLiteError) {
    let statement = try prepare("VACUUM INTO ?1")
    try statement.bind(path, at: 1)
    try statement.run()
  }

  private func integer(of sql: StaticString) throws(SQLiteError) -> Int32 {
    guard let text = try firstText(of: sql), let number = Int32(text) else {
      throw SQLiteError(code: .mismatch, operation: .column(sql))
    }
    return number
  }

  /// The first column of the first row as text, whatever its type; `nil` when there is no row.
  private func firstText(of sql: StaticString) throws(SQLiteError) -> String? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.convertedText(at: 0) : nil
  }

  /// For PRAGMAs that take no parameters: called with numbers of the program only.
  private func runUncached(_ sql: String) throws(SQLiteError) {
    // The handle is open for the length of the call, the string is terminated by Swift.
    try check(unsafe withHandle { unsafe sqlite3_exec($0, sql, nil, nil, nil) }, .configure("PRAGMA with a number"))
  }
}
