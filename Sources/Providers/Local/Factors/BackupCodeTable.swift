import BrokerProtocol
import SQLite

/// The backup codes of accounts, by their fingerprints, each bound to its account.
struct BackupCodeTable {
  private let connection: SQLiteConnection

  /// The codes of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Writes the codes of an account in place of those that it has; part of a transaction.
  ///
  /// - Throws: `SQLiteError`.
  func replace(with codes: [[UInt8]], of account: String) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM backup_code WHERE account = ?1")
    try delete.bind(account, at: 1)
    try delete.run()
    for code in codes {
      let insert = try connection.prepare("INSERT INTO backup_code (code, account) VALUES (?1, ?2)")
      try insert.bind(code, at: 1)
      try insert.bind(account, at: 2)
      try insert.run()
    }
  }

  /// Whether a code is one that was not used.
  ///
  /// - Throws: `SQLiteError`.
  func isUnused(_ code: [UInt8]) throws(SQLiteError) -> Bool {
    let query = try connection.prepare("SELECT 1 FROM backup_code WHERE code = ?1 AND used_at IS NULL")
    try query.bind(code, at: 1)
    return try query.step()
  }

  /// Marks a code as used; part of the transaction that it authorises.
  ///
  /// - Throws: `SQLiteError`.
  func use(_ code: [UInt8], at now: Timestamp) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE backup_code SET used_at = ?2 WHERE code = ?1")
    try update.bind(code, at: 1)
    try update.bind(now.milliseconds, at: 2)
    try update.run()
  }

  /// How many codes an account has left.
  ///
  /// - Throws: `SQLiteError`.
  func unusedCount(of account: String) throws(SQLiteError) -> Int {
    let query = try connection.prepare("SELECT count(*) FROM backup_code WHERE account = ?1 AND used_at IS NULL")
    try query.bind(account, at: 1)
    return try query.step() ? Int(try query.int64(at: 0)) : 0
  }
}
