import BrokerProtocol
import SQLite
import Sealing

/// The authenticator apps that wait for their first code, one for each account at most; their secrets are sealed.
struct TOTPEnrolmentTable {
  private static let table = "totp_enrolment"

  private let connection: SQLiteConnection
  private let seal: RowSeal

  /// The enrolments of a database.
  init(connection: SQLiteConnection, sealingKey: SealingKey) {
    self.connection = connection
    seal = RowSeal(key: sealingKey)
  }

  /// The enrolment with the fingerprint of its handle.
  ///
  /// - Throws: `LocalStoreFault.keys`, `SQLiteError`, `SecretMemoryExhausted`.
  func find(_ handle: [UInt8]) throws -> TOTPEnrolment? {
    let query = try connection.prepare(
      "SELECT account, secret, attempts, expires_at FROM totp_enrolment WHERE handle = ?1")
    try query.bind(handle, at: 1)
    guard try query.step() else { return nil }
    let account = try query.text(at: 0)
    let secret = try query.withBlob(at: 1) { box in try seal.open(box, table: Self.table, row: account) }
    return TOTPEnrolment(
      handle: handle, account: account, totp: TOTP(secret: secret), attempts: Int(try query.int64(at: 2)),
      expiresAt: Timestamp(milliseconds: try query.int64(at: 3)))
  }

  /// Writes an enrolment in place of the one that its account has.
  ///
  /// - Throws: `SQLiteError`.
  func save(_ enrolment: TOTPEnrolment) throws(SQLiteError) {
    let write = try connection.prepare(
      "REPLACE INTO totp_enrolment (account, handle, secret, attempts, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)")
    try write.bind(enrolment.account, at: 1)
    try write.bind(enrolment.handle, at: 2)
    try write.bind(seal.seal(enrolment.totp.secret, table: Self.table, row: enrolment.account), at: 3)
    try write.bind(Int64(enrolment.attempts), at: 4)
    try write.bind(enrolment.expiresAt.milliseconds, at: 5)
    try write.run()
  }

  /// Counts one more compared code.
  ///
  /// - Throws: `SQLiteError`.
  func countAttempt(_ handle: [UInt8]) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE totp_enrolment SET attempts = attempts + 1 WHERE handle = ?1")
    try update.bind(handle, at: 1)
    try update.run()
  }

  /// Ends the enrolment of an account, if there is one.
  ///
  /// - Throws: `SQLiteError`.
  func remove(account: String) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM totp_enrolment WHERE account = ?1")
    try delete.bind(account, at: 1)
    try delete.run()
  }

  /// Forgets enrolments that ended long ago.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM totp_enrolment WHERE expires_at < ?1")
    try delete.bind((now + (.zero - TOTPEnrolment.memory)).milliseconds, at: 1)
    try delete.run()
  }
}
