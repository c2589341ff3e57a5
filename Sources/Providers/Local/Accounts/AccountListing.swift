import BrokerProtocol
import SQLite

/// Reads the lists for the owner of the state directory, each by one query.
struct AccountListing {
  /// The database.
  let connection: SQLiteConnection
  /// How long a session lives without use.
  let idleLifetime: Duration
  /// The present moment.
  let now: Timestamp

  /// The newest accounts by their addresses, or the one with an identifier.
  ///
  /// - Throws: `SQLiteError`; `LocalStoreFault.damaged` for a second factor that is not known.
  func users(id: String? = nil) throws -> [LocalUser] {
    let query = try connection.prepare(
      """
      SELECT id, email, email_verified_at, name, phone,
        CASE WHEN second_factor = 'sms' AND phone_verified_at IS NULL
          OR second_factor = 'email' AND email_verified_at IS NULL THEN 'off' ELSE second_factor END,
        disabled_at, created_at,
        (SELECT count(*) FROM token_family AS family WHERE family.account = account.id
          AND family.revoked_at IS NULL AND family.expires_at > ?1 AND family.last_used_at > ?2)
      FROM (
        SELECT * FROM account WHERE ?3 IS NULL OR id = ?3 ORDER BY created_at DESC, id LIMIT ?4
      ) AS account ORDER BY email
      """)
    try bind(id, ListLocalUsers.largestCount, to: query)
    var users: [LocalUser] = []
    while try query.step() { users.append(try Self.user(query)) }
    return users
  }

  /// The sessions that can still be refreshed, the newest first: of one account, or of all.
  ///
  /// - Parameters:
  ///   - account: whose they are; nil for all.
  ///   - limit: how many at most; nil for all.
  /// - Returns: the sessions.
  /// - Throws: `SQLiteError`.
  func sessions(of account: String? = nil, limit: Int?) throws(SQLiteError) -> [LocalSession] {
    let query = try connection.prepare(
      """
      SELECT id, account, scopes, created_at, last_used_at, expires_at, amr FROM token_family
      WHERE revoked_at IS NULL AND expires_at > ?1 AND last_used_at > ?2 AND (?3 IS NULL OR account = ?3)
      ORDER BY created_at DESC, id LIMIT ?4
      """)
    try bind(account, limit, to: query)
    var sessions: [LocalSession] = []
    while try query.step() { sessions.append(try session(query)) }
    return sessions
  }

  /// The newest messages that may lie in the outbox, and when each is removed, the oldest first.
  ///
  /// - Throws: `SQLiteError`.
  func messages() throws(SQLiteError) -> [(number: Int64, expiresAt: Timestamp)] {
    let query = try connection.prepare(
      """
      SELECT number, expires_at FROM (
        SELECT number, expires_at FROM message WHERE expires_at > ?1 ORDER BY number DESC LIMIT ?2
      ) ORDER BY number
      """)
    try query.bind(now.milliseconds, at: 1)
    try query.bind(Int64(ListLocalMessages.largestCount), at: 2)
    var messages: [(number: Int64, expiresAt: Timestamp)] = []
    while try query.step() {
      messages.append((try query.int64(at: 0), Timestamp(milliseconds: try query.int64(at: 1))))
    }
    return messages
  }

  /// Binds which sessions can still be refreshed, of which account something is read, and how many rows at most.
  private func bind(_ account: String?, _ limit: Int?, to query: borrowing Statement) throws(SQLiteError) {
    try query.bind(now.milliseconds, at: 1)
    try query.bind((now + (.zero - idleLifetime)).milliseconds, at: 2)
    if let account { try query.bind(account, at: 3) }
    // A negative number is no limit (https://www.sqlite.org/lang_select.html#limitoffset).
    try query.bind(Int64(limit ?? -1), at: 4)
  }

  private static func user(_ row: borrowing Statement) throws -> LocalUser {
    guard let secondFactor = LocalUser.SecondFactor(rawValue: try row.text(at: 5)) else {
      throw LocalStoreFault.damaged
    }
    return LocalUser(
      id: try row.text(at: 0), email: try row.text(at: 1), emailVerified: !row.isNull(at: 2),
      name: row.isNull(at: 3) ? nil : try row.text(at: 3),
      phoneNumberMasked: row.isNull(at: 4) ? nil : PhoneNumber(stored: try row.text(at: 4)).masked,
      twoFactor: secondFactor, isDisabled: !row.isNull(at: 6),
      createdAt: Timestamp(milliseconds: try row.int64(at: 7)), sessionCount: Int(try row.int64(at: 8)))
  }

  private func session(_ row: borrowing Statement) throws(SQLiteError) -> LocalSession {
    let lastUsedAt = Timestamp(milliseconds: try row.int64(at: 4))
    return LocalSession(
      id: try row.text(at: 0), user: try row.text(at: 1), scopes: ScopeList.split(try row.text(at: 2)),
      createdAt: Timestamp(milliseconds: try row.int64(at: 3)), lastUsedAt: lastUsedAt,
      expiresAt: min(Timestamp(milliseconds: try row.int64(at: 5)), lastUsedAt + idleLifetime),
      methods: AuthenticationMethods(stored: try row.text(at: 6)).names)
  }
}
