import BrokerProtocol
import SQLite

/// The tokens that were sent by e-mail, by their fingerprints: one of each purpose for an account, gone once it was used.
struct MailTokenTable {
  private let connection: SQLiteConnection

  /// The tokens of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Adds a token in place of the earlier one of its account and purpose; part of the caller's transaction.
  ///
  /// - Throws: `SQLiteError`.
  func replace(with token: MailToken, _ fingerprint: [UInt8]) throws(SQLiteError) {
    try remove(token.purpose, of: token.account)
    let insert = try connection.prepare(
      "INSERT INTO mail_token (token, account, purpose, email, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)")
    try insert.bind(fingerprint, at: 1)
    try insert.bind(token.account, at: 2)
    try insert.bind(token.purpose.rawValue, at: 3)
    try insert.bind(token.email, at: 4)
    try insert.bind(token.expiresAt.milliseconds, at: 5)
    try insert.run()
  }

  /// The token with a fingerprint, if it is one of that purpose; it may have expired.
  ///
  /// - Throws: `SQLiteError`.
  func find(_ fingerprint: [UInt8], _ purpose: MailToken.Purpose) throws(SQLiteError) -> MailToken? {
    let query = try connection.prepare(
      "SELECT account, email, expires_at FROM mail_token WHERE token = ?1 AND purpose = ?2")
    try query.bind(fingerprint, at: 1)
    try query.bind(purpose.rawValue, at: 2)
    guard try query.step() else { return nil }
    return MailToken(
      account: try query.text(at: 0), purpose: purpose, email: try query.text(at: 1),
      expiresAt: Timestamp(milliseconds: try query.int64(at: 2)))
  }

  /// When an account's last token of a purpose expires; nil where there is none.
  ///
  /// - Throws: `SQLiteError`.
  func expiry(_ purpose: MailToken.Purpose, of account: String) throws(SQLiteError) -> Timestamp? {
    let query = try connection.prepare("SELECT expires_at FROM mail_token WHERE account = ?1 AND purpose = ?2")
    try query.bind(account, at: 1)
    try query.bind(purpose.rawValue, at: 2)
    return try query.step() ? Timestamp(milliseconds: try query.int64(at: 0)) : nil
  }

  /// Removes an account's token of a purpose.
  ///
  /// - Throws: `SQLiteError`.
  func remove(_ purpose: MailToken.Purpose, of account: String) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM mail_token WHERE account = ?1 AND purpose = ?2")
    try delete.bind(account, at: 1)
    try delete.bind(purpose.rawValue, at: 2)
    try delete.run()
  }

  /// Removes all tokens of an account.
  ///
  /// - Throws: `SQLiteError`.
  func removeAll(of account: String) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM mail_token WHERE account = ?1")
    try delete.bind(account, at: 1)
    try delete.run()
  }

  /// Forgets tokens that have expired.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM mail_token WHERE expires_at < ?1")
    try delete.bind(now.milliseconds, at: 1)
    try delete.run()
  }
}
