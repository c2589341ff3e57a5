import BrokerProtocol
import SQLite

/// Token families and fingerprints of their refresh tokens (RFC 9700, section 4.14.2).
struct TokenFamilyTable {
  /// A refresh token that was found by its fingerprint.
  struct Match {
    /// Its family.
    var family: TokenFamily
    /// Whether it was used before.
    var isSpent: Bool
  }

  /// How long an ended family is remembered, so that its tokens are refused for the right reason.
  static let memory = Duration.seconds(7 * 86_400)

  private let connection: SQLiteConnection

  /// The families of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Begins a family, as yet without a token.
  ///
  /// - Throws: `SQLiteError`.
  func insert(_ family: TokenFamily) throws(SQLiteError) {
    let insert = try connection.prepare(
      """
      INSERT INTO token_family (id, account, scopes, auth_time, amr, created_at, last_used_at, expires_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """)
    try insert.bind(family.id, at: 1)
    try insert.bind(family.account, at: 2)
    try insert.bind(family.scopes, at: 3)
    try insert.bind(family.authTime?.milliseconds ?? 0, at: 4)
    try insert.bind(family.methods.text, at: 5)
    try insert.bind(family.createdAt.milliseconds, at: 6)
    try insert.bind(family.lastUsedAt.milliseconds, at: 7)
    try insert.bind(family.expiresAt.milliseconds, at: 8)
    try insert.run()
  }

  /// The family with an identifier.
  ///
  /// - Throws: `SQLiteError`.
  func find(id: String) throws(SQLiteError) -> TokenFamily? {
    let query = try connection.prepare(
      """
      SELECT id, account, scopes, auth_time, amr, created_at, last_used_at, expires_at, revoked_at
      FROM token_family WHERE id = ?1
      """)
    try query.bind(id, at: 1)
    return try query.step() ? try family(query) : nil
  }

  /// The refresh token with a fingerprint.
  ///
  /// - Throws: `SQLiteError`.
  func find(token: [UInt8]) throws(SQLiteError) -> Match? {
    let query = try connection.prepare(
      """
      SELECT id, account, scopes, auth_time, amr, created_at, last_used_at, expires_at, revoked_at, spent_at
      FROM refresh_token JOIN token_family ON id = family WHERE token = ?1
      """)
    try query.bind(token, at: 1)
    guard try query.step() else { return nil }
    return Match(family: try family(query), isSpent: !query.isNull(at: 9))
  }

  /// Adds the fingerprint of a new token, which counts as a use of its family.
  ///
  /// - Throws: `SQLiteError`.
  func add(token: [UInt8], to family: String, at now: Timestamp) throws(SQLiteError) {
    let insert = try connection.prepare("INSERT INTO refresh_token (token, family) VALUES (?1, ?2)")
    try insert.bind(token, at: 1)
    try insert.bind(family, at: 2)
    try insert.run()
    let update = try connection.prepare("UPDATE token_family SET last_used_at = ?2 WHERE id = ?1")
    try update.bind(family, at: 1)
    try update.bind(now.milliseconds, at: 2)
    try update.run()
  }

  /// Marks a token as used.
  ///
  /// - Throws: `SQLiteError`.
  func spend(token: [UInt8], at now: Timestamp) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE refresh_token SET spent_at = ?2 WHERE token = ?1")
    try update.bind(token, at: 1)
    try update.bind(now.milliseconds, at: 2)
    try update.run()
  }

  /// Ends a family; one that has ended stays as it is.
  ///
  /// - Throws: `SQLiteError`.
  func revoke(family: String, at now: Timestamp) throws(SQLiteError) {
    let update = try connection.prepare(
      "UPDATE token_family SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL")
    try update.bind(family, at: 1)
    try update.bind(now.milliseconds, at: 2)
    try update.run()
  }

  /// Ends all families of an account, but for one that is named.
  ///
  /// - Throws: `SQLiteError`.
  func revokeAll(account: String, except kept: String? = nil, at now: Timestamp) throws(SQLiteError) {
    let update = try connection.prepare(
      "UPDATE token_family SET revoked_at = ?2 WHERE account = ?1 AND revoked_at IS NULL AND id IS NOT ?3")
    try update.bind(account, at: 1)
    try update.bind(now.milliseconds, at: 2)
    if let kept { try update.bind(kept, at: 3) }
    try update.run()
  }

  /// Ends every family of every account.
  ///
  /// - Throws: `SQLiteError`.
  func revokeAll(at now: Timestamp) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE token_family SET revoked_at = ?1 WHERE revoked_at IS NULL")
    try update.bind(now.milliseconds, at: 1)
    try update.run()
  }

  /// Notes a use of every family: of those from before uses were noted, none has been idle.
  ///
  /// - Throws: `SQLiteError`.
  func noteUseOfAll(at now: Timestamp) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE token_family SET created_at = ?1, last_used_at = ?1")
    try update.bind(now.milliseconds, at: 1)
    try update.run()
  }

  /// Forgets families that have expired, or were revoked, long ago, tokens first.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let end = (now + (.zero - Self.memory)).milliseconds
    let tokens = try connection.prepare(
      """
      DELETE FROM refresh_token
      WHERE family IN (SELECT id FROM token_family WHERE expires_at < ?1 OR revoked_at < ?1)
      """)
    try tokens.bind(end, at: 1)
    try tokens.run()
    let families = try connection.prepare("DELETE FROM token_family WHERE expires_at < ?1 OR revoked_at < ?1")
    try families.bind(end, at: 1)
    try families.run()
  }

  private func family(_ row: borrowing Statement) throws(SQLiteError) -> TokenFamily {
    let authTime = try row.int64(at: 3)
    return TokenFamily(
      id: try row.text(at: 0), account: try row.text(at: 1), scopes: try row.text(at: 2),
      authTime: authTime == 0 ? nil : Timestamp(milliseconds: authTime),
      methods: AuthenticationMethods(stored: try row.text(at: 4)),
      createdAt: Timestamp(milliseconds: try row.int64(at: 5)),
      lastUsedAt: Timestamp(milliseconds: try row.int64(at: 6)),
      expiresAt: Timestamp(milliseconds: try row.int64(at: 7)), isRevoked: !row.isNull(at: 8))
  }
}
