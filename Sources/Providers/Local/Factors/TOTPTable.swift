import BrokerProtocol
import SQLite
import Sealing

/// The authenticator apps of accounts, one for each at most; their secrets are sealed.
struct TOTPTable {
  /// An app that was enrolled.
  struct App {
    /// Its codes.
    var totp: TOTP
    /// The time step of the last code that was accepted: no code of it or of an earlier one is (RFC 6238, section 5.2).
    var lastStep: Int64
  }

  private static let table = "totp"

  private let connection: SQLiteConnection
  private let seal: RowSeal

  /// The apps of a database.
  init(connection: SQLiteConnection, sealingKey: SealingKey) {
    self.connection = connection
    seal = RowSeal(key: sealingKey)
  }

  /// The app of an account.
  ///
  /// - Throws: `LocalStoreFault.keys`, `SQLiteError`, `SecretMemoryExhausted`.
  func find(account: String) throws -> App? {
    let query = try connection.prepare("SELECT secret, last_step FROM totp WHERE account = ?1")
    try query.bind(account, at: 1)
    guard try query.step() else { return nil }
    let secret = try query.withBlob(at: 0) { box in try seal.open(box, table: Self.table, row: account) }
    return App(totp: TOTP(secret: secret), lastStep: try query.int64(at: 1))
  }

  /// Enrols an app in place of the one that the account has.
  ///
  /// - Parameters:
  ///   - app: with the step of the code that it has shown itself by.
  ///   - account: whose it is.
  ///   - now: when that was.
  /// - Throws: `SQLiteError`.
  func save(_ app: App, of account: String, at now: Timestamp) throws(SQLiteError) {
    let write = try connection.prepare(
      "REPLACE INTO totp (account, secret, last_step, enrolled_at) VALUES (?1, ?2, ?3, ?4)")
    try write.bind(account, at: 1)
    try write.bind(seal.seal(app.totp.secret, table: Self.table, row: account), at: 2)
    try write.bind(app.lastStep, at: 3)
    try write.bind(now.milliseconds, at: 4)
    try write.run()
  }

  /// Notes the step of a code that is being accepted; part of the transaction that it authorises.
  ///
  /// - Throws: `SQLiteError`.
  func setLastStep(_ step: Int64, of account: String) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE totp SET last_step = ?2 WHERE account = ?1")
    try update.bind(account, at: 1)
    try update.bind(step, at: 2)
    try update.run()
  }

  /// Forgets the app of an account, if it has one.
  ///
  /// - Throws: `SQLiteError`.
  func remove(account: String) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM totp WHERE account = ?1")
    try delete.bind(account, at: 1)
    try delete.run()
  }
}
