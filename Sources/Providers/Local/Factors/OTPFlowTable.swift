import BrokerProtocol
import SQLite

/// The logins that wait for a code: one for each account at most, and they survive a restart.
struct OTPFlowTable {
  /// How long an ended flow is remembered, so that a late code is told apart from a wrong handle.
  static let memory = Duration.seconds(3600)

  private let connection: SQLiteConnection

  /// The flows of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The flow with the fingerprint of its handle.
  ///
  /// - Throws: `SQLiteError`; `LocalStoreFault.damaged` where it asks for a code that comes in no known way.
  func find(_ handle: [UInt8]) throws -> OTPFlow? {
    let query = try connection.prepare(
      """
      SELECT account, scopes, method, code, code_length, attempts, sends, expires_at, resend_at
      FROM otp_flow WHERE handle = ?1
      """)
    try query.bind(handle, at: 1)
    guard try query.step() else { return nil }
    guard let method = OTPChallenge.Method(rawValue: try query.text(at: 2)) else { throw LocalStoreFault.damaged }
    return OTPFlow(
      handle: handle, account: try query.text(at: 0), scopes: try query.text(at: 1), method: method,
      code: try query.blob(at: 3), codeLength: Int(try query.int64(at: 4)), attempts: Int(try query.int64(at: 5)),
      sends: Int(try query.int64(at: 6)), expiresAt: Timestamp(milliseconds: try query.int64(at: 7)),
      resendAt: Timestamp(milliseconds: try query.int64(at: 8)))
  }

  /// Writes a flow in place of the one that its account has.
  ///
  /// - Throws: `SQLiteError`.
  func save(_ flow: OTPFlow) throws(SQLiteError) {
    let write = try connection.prepare(
      """
      INSERT OR REPLACE INTO otp_flow
        (handle, account, scopes, method, code, code_length, attempts, sends, expires_at, resend_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
      """)
    try write.bind(flow.handle, at: 1)
    try write.bind(flow.account, at: 2)
    try write.bind(flow.scopes, at: 3)
    try write.bind(flow.method.rawValue, at: 4)
    try write.bind(flow.code, at: 5)
    try write.bind(Int64(flow.codeLength), at: 6)
    try write.bind(Int64(flow.attempts), at: 7)
    try write.bind(Int64(flow.sends), at: 8)
    try write.bind(flow.expiresAt.milliseconds, at: 9)
    try write.bind(flow.resendAt.milliseconds, at: 10)
    try write.run()
  }

  /// Counts one more compared code.
  ///
  /// - Throws: `SQLiteError`.
  func countAttempt(_ handle: [UInt8]) throws(SQLiteError) {
    let update = try connection.prepare("UPDATE otp_flow SET attempts = attempts + 1 WHERE handle = ?1")
    try update.bind(handle, at: 1)
    try update.run()
  }

  /// Ends a flow.
  ///
  /// - Throws: `SQLiteError`.
  func remove(_ handle: [UInt8]) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM otp_flow WHERE handle = ?1")
    try delete.bind(handle, at: 1)
    try delete.run()
  }

  /// Ends the flow of an account, if it has one.
  ///
  /// - Throws: `SQLiteError`.
  func remove(account: String) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM otp_flow WHERE account = ?1")
    try delete.bind(account, at: 1)
    try delete.run()
  }

  /// Forgets flows that ended long ago.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM otp_flow WHERE expires_at < ?1")
    try delete.bind((now + (.zero - Self.memory)).milliseconds, at: 1)
    try delete.run()
  }
}
