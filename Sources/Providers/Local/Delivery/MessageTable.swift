import BrokerProtocol
import SQLite

/// The messages that may lie in the outbox: a row is there before its file and goes after it, so that no file is
/// forgotten.
struct MessageTable {
  /// No message has this number, since they count from 1.
  static let numberOfNone: Int64 = 0

  private let connection: SQLiteConnection

  /// The messages of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Notes a message that is about to be written.
  ///
  /// - Returns: its number, which no other message ever had.
  /// - Throws: `SQLiteError`.
  func insert(account: String, _ purpose: MessagePurpose, expiresAt: Timestamp) throws(SQLiteError) -> Int64 {
    let insert = try connection.prepare("INSERT INTO message (account, purpose, expires_at) VALUES (?1, ?2, ?3)")
    try insert.bind(account, at: 1)
    try insert.bind(purpose.rawValue, at: 2)
    try insert.bind(expiresAt.milliseconds, at: 3)
    try insert.run()
    return connection.lastInsertedRowID
  }

  /// The messages of an account.
  ///
  /// - Throws: `SQLiteError`.
  func numbers(account: String) throws(SQLiteError) -> [Int64] {
    let query = try connection.prepare("SELECT number FROM message WHERE account = ?1")
    try query.bind(account, at: 1)
    return try Self.numbers(in: query)
  }

  /// The messages of an account that are for one purpose.
  ///
  /// - Throws: `SQLiteError`.
  func numbers(account: String, _ purpose: MessagePurpose) throws(SQLiteError) -> [Int64] {
    let query = try connection.prepare("SELECT number FROM message WHERE account = ?1 AND purpose = ?2")
    try query.bind(account, at: 1)
    try query.bind(purpose.rawValue, at: 2)
    return try Self.numbers(in: query)
  }

  /// The messages whose code has ended.
  ///
  /// - Throws: `SQLiteError`.
  func expiredNumbers(at now: Timestamp) throws(SQLiteError) -> [Int64] {
    let query = try connection.prepare("SELECT number FROM message WHERE expires_at <= ?1")
    try query.bind(now.milliseconds, at: 1)
    return try Self.numbers(in: query)
  }

  /// When the next message expires; nil where there is none.
  ///
  /// - Throws: `SQLiteError`.
  func nextExpiry() throws(SQLiteError) -> Timestamp? {
    let query = try connection.prepare("SELECT expires_at FROM message ORDER BY expires_at LIMIT 1")
    return try query.step() ? Timestamp(milliseconds: try query.int64(at: 0)) : nil
  }

  private static func numbers(in rows: borrowing Statement) throws(SQLiteError) -> [Int64] {
    var numbers: [Int64] = []
    while try rows.step() { numbers.append(try rows.int64(at: 0)) }
    return numbers
  }

  /// Makes messages expire at once; part of the caller's transaction.
  ///
  /// - Throws: `SQLiteError`.
  func expire(_ numbers: [Int64]) throws(SQLiteError) {
    for number in numbers {
      let update = try connection.prepare("UPDATE message SET expires_at = 0 WHERE number = ?1")
      try update.bind(number, at: 1)
      try update.run()
    }
  }

  /// Forgets a message whose file is gone.
  ///
  /// - Throws: `SQLiteError`.
  func remove(_ number: Int64) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM message WHERE number = ?1")
    try delete.bind(number, at: 1)
    try delete.run()
  }
}
