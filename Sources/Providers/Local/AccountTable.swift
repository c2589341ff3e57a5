import BrokerProtocol
import SQLite

/// An account of the embedded provider.
struct Account {
  /// Names it in tokens; never changes.
  var id: String
  /// What it logs in with.
  var email: String
  /// The name to show.
  var name: String?
  /// Where its one-time codes go; nil: it needs none.
  var phone: PhoneNumber?
  /// The text form of its password's hash.
  var passwordHash: [UInt8]

  /// What others may know of it.
  var user: User {
    User(id: id, email: email, emailVerified: false, name: name, phoneNumberMasked: phone?.masked)
  }
}

/// The accounts.
struct AccountTable {
  private let connection: SQLiteConnection

  /// The accounts of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The account with an address.
  ///
  /// - Throws: `SQLiteError`.
  func find(email: EmailAddress) throws(SQLiteError) -> Account? {
    try first("SELECT id, email, name, phone, password_hash FROM account WHERE email = ?1", email.text)
  }

  /// The account with an identifier.
  ///
  /// - Throws: `SQLiteError`.
  func find(id: String) throws(SQLiteError) -> Account? {
    try first("SELECT id, email, name, phone, password_hash FROM account WHERE id = ?1", id)
  }

  /// Adds an account.
  ///
  /// - Returns: false where its address is taken.
  /// - Throws: `SQLiteError`.
  func insert(_ account: Account, at now: Timestamp) throws(SQLiteError) -> Bool {
    let insert = try connection.prepare(
      """
      INSERT INTO account (id, email, name, phone, password_hash, created_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (email) DO NOTHING
      """)
    try insert.bind(account.id, at: 1)
    try insert.bind(account.email, at: 2)
    if let name = account.name { try insert.bind(name, at: 3) }
    if let phone = account.phone { try insert.bind(phone.text, at: 4) }
    try insert.bind(account.passwordHash, at: 5)
    try insert.bind(now.milliseconds, at: 6)
    try insert.run()
    return connection.changedRowCount == 1
  }

  /// Replaces the hash of a password by one of other parameters.
  ///
  /// - Throws: `SQLiteError`.
  func setPasswordHash(_ hash: [UInt8], of id: String) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE account SET password_hash = ?2 WHERE id = ?1")
    try update.bind(id, at: 1)
    try update.bind(hash, at: 2)
    try update.run()
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
    return Account(
      id: try query.text(at: 0), email: try query.text(at: 1),
      name: query.isNull(at: 2) ? nil : try query.text(at: 2),
      phone: query.isNull(at: 3) ? nil : PhoneNumber(stored: try query.text(at: 3)),
      passwordHash: try query.blob(at: 4))
  }
}
