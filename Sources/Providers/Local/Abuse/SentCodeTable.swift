import BrokerProtocol
import SQLite

/// When codes and mails were sent, as far as they count for ``MessageLimits``.
struct SentCodeTable {
  /// The scope of a count.
  private enum Scope {
    case account(String)
    case destination([UInt8])
    /// All messages to unverified addresses.
    case everyDestination

    /// Reads when the message was sent that was the first of the last ones.
    var query: StaticString {
      switch self {
      case .account:
        """
        SELECT at FROM sent_code WHERE share = ?1 AND at > ?2 AND at <= ?3 AND account = ?5
        ORDER BY at DESC LIMIT 1 OFFSET ?4
        """
      case .destination:
        """
        SELECT at FROM sent_code WHERE share = ?1 AND at > ?2 AND at <= ?3 AND destination = ?5
        ORDER BY at DESC LIMIT 1 OFFSET ?4
        """
      case .everyDestination:
        """
        SELECT at FROM sent_code WHERE share = ?1 AND at > ?2 AND at <= ?3 AND destination IS NOT NULL
        ORDER BY at DESC LIMIT 1 OFFSET ?4
        """
      }
    }

    /// Binds which account or address it is.
    func bind(to query: borrowing Statement) throws(SQLiteError) {
      switch self {
      case .account(let account): try query.bind(account, at: 5)
      case .destination(let destination): try query.bind(destination, at: 5)
      case .everyDestination: break
      }
    }
  }

  private let connection: SQLiteConnection

  /// The messages of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Counts a message.
  ///
  /// - Throws: `SQLiteError`.
  func record(_ message: CountedMessage, at now: Timestamp) throws(SQLiteError) {
    let insert = try connection.prepare(
      "INSERT INTO sent_code (account, destination, share, at) VALUES (?1, ?2, ?3, ?4)")
    try insert.bind(message.account, at: 1)
    if let destination = message.destination { try insert.bind(destination, at: 2) }
    try insert.bind(message.share.rawValue, at: 3)
    try insert.bind(now.milliseconds, at: 4)
    try insert.run()
  }

  /// How long a message has to wait; nil where it may be sent now.
  ///
  /// - Throws: `SQLiteError`.
  func wait(
    for message: CountedMessage, _ limits: MessageLimits, at now: Timestamp
  ) throws(SQLiteError) -> Duration? {
    var scopes: [(scope: Scope, factor: Int)] = [(.account(message.account), 1)]
    if let destination = message.destination {
      scopes += [(.destination(destination), 1), (.everyDestination, MessageLimits.overallFactor)]
    }
    var longest: Duration?
    for (scope, factor) in scopes {
      for var limit in limits.limits(of: message.share) {
        limit.count *= factor
        guard let wait = try wait(scope, message.share, limit, at: now) else { continue }
        longest = max(longest ?? wait, wait)
      }
    }
    return longest
  }

  /// Moves the messages of an account in a share to their addresses alone: they no longer count for the account.
  ///
  /// - Throws: `SQLiteError`.
  func release(_ account: String, _ share: MessageLimits.Share) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE sent_code SET account = NULL WHERE account = ?1 AND share = ?2")
    try update.bind(account, at: 1)
    try update.bind(share.rawValue, at: 2)
    try update.run()
  }

  /// Removes the counts of an account.
  ///
  /// - Throws: `SQLiteError`.
  func remove(_ account: String) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM sent_code WHERE account = ?1")
    try delete.bind(account, at: 1)
    try delete.run()
  }

  /// Removes messages that count no more, and those that a wrong clock has put into the future.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM sent_code WHERE at <= ?1 OR at > ?2")
    try delete.bind((now + (.zero - MessageLimits.day)).milliseconds, at: 1)
    try delete.bind(now.milliseconds, at: 2)
    try delete.run()
  }

  /// The rest of a period since the message that was the first of the last ones that its limit allows.
  private func wait(
    _ scope: Scope, _ share: MessageLimits.Share, _ limit: MessageLimits.Limit, at now: Timestamp
  ) throws(SQLiteError) -> Duration? {
    let query = try connection.prepare(scope.query)
    try query.bind(share.rawValue, at: 1)
    try query.bind((now + (.zero - limit.period)).milliseconds, at: 2)
    try query.bind(now.milliseconds, at: 3)
    try query.bind(Int64(limit.count - 1), at: 4)
    try scope.bind(to: query)
    guard try query.step() else { return nil }
    return Timestamp(milliseconds: try query.int64(at: 0)) + limit.period - now
  }
}
