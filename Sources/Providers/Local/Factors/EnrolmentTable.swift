import BrokerProtocol
import SQLite
import Sealing
import SecretMemory

/// The second factors that wait for their first code, one for each account at most; the secrets of apps are sealed.
struct EnrolmentTable {
  /// The name under which secrets are sealed: that of the table before it had codes that are sent.
  private static let place = "totp_enrolment"

  private let connection: SQLiteConnection
  private let seal: RowSeal

  /// The enrolments of a database.
  init(connection: SQLiteConnection, sealingKey: SealingKey) {
    self.connection = connection
    seal = RowSeal(key: sealingKey)
  }

  /// The enrolment with the fingerprint of its handle.
  ///
  /// - Throws: `LocalStoreFault`, `SQLiteError`, `SecretMemoryExhausted`.
  func find(_ handle: [UInt8]) throws -> Enrolment? {
    let query = try connection.prepare(
      """
      SELECT account, secret, attempts, expires_at, method, destination, code_length FROM enrolment WHERE handle = ?1
      """)
    try query.bind(handle, at: 1)
    guard try query.step() else { return nil }
    let account = try query.text(at: 0)
    return Enrolment(
      handle: handle, account: account, source: try source(query, account), attempts: Int(try query.int64(at: 2)),
      expiresAt: Timestamp(milliseconds: try query.int64(at: 3)))
  }

  private func source(_ row: borrowing Statement, _ account: String) throws -> Enrolment.Source {
    guard let method = OTPChallenge.Method(rawValue: try row.text(at: 4)) else { throw LocalStoreFault.damaged }
    guard method == .totp else {
      return .message(
        Enrolment.SentCode(
          method: method, destination: try row.text(at: 5), fingerprint: try row.blob(at: 1),
          length: Int(try row.int64(at: 6))))
    }
    return .app(TOTP(secret: try row.withBlob(at: 1) { box in try seal.open(box, table: Self.place, row: account) }))
  }

  /// Writes an enrolment in place of the one that its account has.
  ///
  /// - Throws: `SQLiteError`.
  func save(_ enrolment: Enrolment) throws(SQLiteError) {
    let write = try connection.prepare(
      """
      REPLACE INTO enrolment (account, handle, secret, attempts, expires_at, method, destination, code_length)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """)
    try write.bind(enrolment.account, at: 1)
    try write.bind(enrolment.handle, at: 2)
    switch enrolment.source {
    case .app(let totp):
      try write.bind(seal.seal(totp.secret, table: Self.place, row: enrolment.account), at: 3)
      try write.bind(OTPChallenge.Method.totp.rawValue, at: 6)
    case .message(let sent):
      try write.bind(sent.fingerprint, at: 3)
      try write.bind(sent.method.rawValue, at: 6)
      try write.bind(sent.destination, at: 7)
    }
    try write.bind(Int64(enrolment.attempts), at: 4)
    try write.bind(enrolment.expiresAt.milliseconds, at: 5)
    try write.bind(Int64(enrolment.codeLength), at: 8)
    try write.run()
  }

  /// Counts one more compared code.
  ///
  /// - Throws: `SQLiteError`.
  func countAttempt(_ handle: [UInt8]) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE enrolment SET attempts = attempts + 1 WHERE handle = ?1")
    try update.bind(handle, at: 1)
    try update.run()
  }

  /// Ends the enrolment of an account, if there is one.
  ///
  /// - Throws: `SQLiteError`.
  func remove(account: String) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM enrolment WHERE account = ?1")
    try delete.bind(account, at: 1)
    try delete.run()
  }

  /// Forgets enrolments that ended long ago.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM enrolment WHERE expires_at < ?1")
    try delete.bind((now + (.zero - Enrolment.memory)).milliseconds, at: 1)
    try delete.run()
  }
}
