import BrokerProtocol
import SQLite

/// The accounts.
struct AccountTable {
  /// The database.
  let connection: SQLiteConnection

  /// The accounts of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The account with an address.
  ///
  /// - Throws: `SQLiteError`.
  func find(email: EmailAddress) throws(SQLiteError) -> Account? {
    try first(
      """
      SELECT id, email, name, phone, password_hash, second_factor, created_at, email_verified_at,
        phone_verified_at, disabled_at
      FROM account WHERE email = ?1
      """, email.text)
  }

  /// The account with an identifier.
  ///
  /// - Throws: `SQLiteError`.
  func find(id: String) throws(SQLiteError) -> Account? {
    try first(
      """
      SELECT id, email, name, phone, password_hash, second_factor, created_at, email_verified_at,
        phone_verified_at, disabled_at
      FROM account WHERE id = ?1
      """, id)
  }

  /// Adds an account, whose password is as old as itself.
  ///
  /// - Returns: false where its address is taken.
  /// - Throws: `SQLiteError`.
  func insert(_ account: Account) throws(SQLiteError) -> Bool {
    let insert = try connection.prepare(
      """
      INSERT INTO account (id, email, name, phone, password_hash, second_factor, created_at, password_changed_at,
        email_verified_at, disabled_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9) ON CONFLICT (email) DO NOTHING
      """)
    try insert.bind(account.id, at: 1)
    try insert.bind(account.email, at: 2)
    if let name = account.name { try insert.bind(name, at: 3) }
    if let phone = account.phone { try insert.bind(phone.text, at: 4) }
    try insert.bind(account.passwordHash, at: 5)
    try insert.bind(account.secondFactor.rawValue, at: 6)
    try insert.bind(account.createdAt.milliseconds, at: 7)
    if let verified = account.emailVerifiedAt { try insert.bind(verified.milliseconds, at: 8) }
    if let disabled = account.disabledAt { try insert.bind(disabled.milliseconds, at: 9) }
    try insert.run()
    return connection.changedRowCount == 1
  }

  /// Replaces the hash of a password by another hash of the same password.
  ///
  /// - Throws: `SQLiteError`.
  func renewPasswordHash(_ hash: [UInt8], of id: String) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE account SET password_hash = ?2 WHERE id = ?1")
    try update.bind(id, at: 1)
    try update.bind(hash, at: 2)
    try update.run()
  }

  /// Replaces the hash of a password by that of another password.
  ///
  /// - Throws: `SQLiteError`.
  func setPasswordHash(_ hash: [UInt8], of id: String, at now: Timestamp) throws(SQLiteError) {
    let update = try connection.prepare(
      "UPDATE account SET password_hash = ?2, password_changed_at = ?3 WHERE id = ?1")
    try update.bind(id, at: 1)
    try update.bind(hash, at: 2)
    try update.bind(now.milliseconds, at: 3)
    try update.run()
  }

  /// Disables an account, or enables it where `moment` is nil.
  ///
  /// - Throws: `SQLiteError`.
  func setDisabled(at moment: Timestamp?, of id: String) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE account SET disabled_at = ?2 WHERE id = ?1")
    try update.bind(id, at: 1)
    if let moment { try update.bind(moment.milliseconds, at: 2) }
    try update.run()
  }

  /// Notes that an account's address is its owner's; the first time counts.
  ///
  /// - Throws: `SQLiteError`.
  func setEmailVerified(_ id: String, at now: Timestamp) throws(SQLiteError) {
    try note(
      now, "UPDATE account SET email_verified_at = ?2 WHERE id = ?1 AND email_verified_at IS NULL", account: id)
  }

  /// Notes that an account's phone number is its owner's; the first time counts.
  ///
  /// - Throws: `SQLiteError`.
  func setPhoneVerified(_ id: String, at now: Timestamp) throws(SQLiteError) {
    try note(
      now, "UPDATE account SET phone_verified_at = ?2 WHERE id = ?1 AND phone_verified_at IS NULL", account: id)
  }

  private func note(_ time: Timestamp, _ statement: StaticString, account id: String) throws(SQLiteError) {
    let update = try connection.prepare(statement)
    try update.bind(id, at: 1)
    try update.bind(time.milliseconds, at: 2)
    try update.run()
  }

  /// Writes the user's own settings of an account: name, addresses and second factor.
  ///
  /// - Returns: false where its e-mail address is another account's; nothing has changed then.
  /// - Throws: `SQLiteError`.
  func update(_ account: Account) throws(SQLiteError) -> Bool {
    let update = try connection.prepare(
      """
      UPDATE OR IGNORE account SET email = ?2, name = ?3, phone = ?4, second_factor = ?5, email_verified_at = ?6,
        phone_verified_at = ?7
      WHERE id = ?1
      """)
    try update.bind(account.id, at: 1)
    try update.bind(account.email, at: 2)
    if let name = account.name { try update.bind(name, at: 3) }
    if let phone = account.phone { try update.bind(phone.text, at: 4) }
    try update.bind(account.secondFactor.rawValue, at: 5)
    if let verified = account.emailVerifiedAt { try update.bind(verified.milliseconds, at: 6) }
    if let verified = account.phoneVerifiedAt { try update.bind(verified.milliseconds, at: 7) }
    try update.run()
    return connection.changedRowCount == 1
  }

  /// Removes an account and the rows that belong to it, children first.
  ///
  /// Its messages must be gone already, each file before its row.
  ///
  /// - Throws: `SQLiteError`, also where there are messages still.
  func remove(_ id: String) throws(SQLiteError) {
    let statements: [StaticString] = [
      "DELETE FROM refresh_token WHERE family IN (SELECT id FROM token_family WHERE account = ?1)",
      "DELETE FROM token_family WHERE account = ?1", "DELETE FROM otp_flow WHERE account = ?1",
      "DELETE FROM totp WHERE account = ?1", "DELETE FROM enrolment WHERE account = ?1",
      "DELETE FROM backup_code WHERE account = ?1", "DELETE FROM mail_token WHERE account = ?1",
      // What was sent to an address counts on, or an account after the other would be made to send more there.
      "UPDATE sent_code SET account = NULL WHERE account = ?1", "DELETE FROM account WHERE id = ?1",
    ]
    for statement in statements {
      let delete = try connection.prepare(statement)
      try delete.bind(id, at: 1)
      try delete.run()
    }
  }

  /// Whether there is none.
  ///
  /// - Throws: `SQLiteError`.
  func isEmpty() throws(SQLiteError) -> Bool {
    try !connection.prepare("SELECT 1 FROM account LIMIT 1").step()
  }

  private func first(_ sql: StaticString, _ key: String) throws(SQLiteError) -> Account? {
    let query = try connection.prepare(sql)
    try query.bind(key, at: 1)
    guard try query.step() else { return nil }
    guard let secondFactor = SecondFactor(rawValue: try query.text(at: 5)) else {
      throw SQLiteError(code: .corrupt, operation: .column(sql))
    }
    return Account(
      id: try query.text(at: 0), email: try query.text(at: 1),
      name: query.isNull(at: 2) ? nil : try query.text(at: 2),
      phone: query.isNull(at: 3) ? nil : PhoneNumber(stored: try query.text(at: 3)),
      passwordHash: try query.blob(at: 4), secondFactor: secondFactor,
      createdAt: Timestamp(milliseconds: try query.int64(at: 6)), emailVerifiedAt: try Self.moment(query, at: 7),
      phoneVerifiedAt: try Self.moment(query, at: 8), disabledAt: try Self.moment(query, at: 9))
  }

  private static func moment(_ row: borrowing Statement, at column: Int32) throws(SQLiteError) -> Timestamp? {
    row.isNull(at: column) ? nil : Timestamp(milliseconds: try row.int64(at: column))
  }
}
