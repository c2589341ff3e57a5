import BrokerProtocol
import SQLite

/// When codes and mails were sent for each account, as far as they count for `MessageLimits`.
struct SentCodeTable {
  private static let hour = Duration.seconds(3600)
  private static let day = Duration.seconds(86_400)

  private let connection: SQLiteConnection

  /// The messages of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Counts a message for an account in its share.
  ///
  /// - Throws: `SQLiteError`.
  func record(_ account: String, _ share: MessageLimits.Share, at now: Timestamp) throws(SQLiteError) {
    let insert = try connection.prepare("INSERT INTO sent_code (account, share, at) VALUES (?1, ?2, ?3)")
    try insert.bind(account, at: 1)
    try insert.bind(share.rawValue, at: 2)
    try insert.bind(now.milliseconds, at: 3)
    try insert.run()
  }

  /// How long an account has to wait for its next message of a share; nil where it may have one now.
  ///
  /// - Throws: `SQLiteError`.
  func wait(
    _ account: String, _ share: MessageLimits.Share, _ limits: MessageLimits, at now: Timestamp
  ) throws(SQLiteError) -> Duration? {
    let (perHour, perDay) = limits.limits(of: share)
    let inHour = try wait(account, share, perHour, in: Self.hour, at: now)
    let inDay = try wait(account, share, perDay, in: Self.day, at: now)
    return [inHour, inDay].compactMap { $0 }.max()
  }

  /// Removes what was counted for an account in a share.
  ///
  /// - Throws: `SQLiteError`.
  func remove(_ account: String, _ share: MessageLimits.Share) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM sent_code WHERE account = ?1 AND share = ?2")
    try delete.bind(account, at: 1)
    try delete.bind(share.rawValue, at: 2)
    try delete.run()
  }

  /// Forgets what counts no more, and what a clock that was wrong has put into the future.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM sent_code WHERE at <= ?1 OR at > ?2")
    try delete.bind((now + (.zero - Self.day)).milliseconds, at: 1)
    try delete.bind(now.milliseconds, at: 2)
    try delete.run()
  }

  /// The rest of a period since the message that was the first of the last `limit` ones.
  private func wait(
    _ account: String, _ share: MessageLimits.Share, _ limit: Int, in period: Duration, at now: Timestamp
  ) throws(SQLiteError) -> Duration? {
    let query = try connection.prepare(
      """
      SELECT at FROM sent_code WHERE account = ?1 AND share = ?2 AND at > ?3 AND at <= ?4
      ORDER BY at DESC LIMIT 1 OFFSET ?5
      """)
    try query.bind(account, at: 1)
    try query.bind(share.rawValue, at: 2)
    try query.bind((now + (.zero - period)).milliseconds, at: 3)
    try query.bind(now.milliseconds, at: 4)
    try query.bind(Int64(limit - 1), at: 5)
    guard try query.step() else { return nil }
    return Timestamp(milliseconds: try query.int64(at: 0)) + period - now
  }
}
