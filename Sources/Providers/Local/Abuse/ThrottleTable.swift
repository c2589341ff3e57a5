import BrokerProtocol
import SQLite

/// Counts wrong guesses for an address, whether it has an account or not, and slows the next login down.
///
/// Passwords and codes count together, over all logins of the address; only a completed login clears the count. It is
/// in the database, so a restart clears nothing.
struct ThrottleTable {
  /// Mistakes that cost nothing: people make them.
  static let freeFailures: Int64 = 3
  /// No address waits longer than that for one more try: the owner of the account is shut out no longer either.
  static let longestDelay = Duration.seconds(900)
  /// After a day without a mistake the count begins again, and the table does not grow for ever.
  static let memory = Duration.seconds(86_400)

  private let connection: SQLiteConnection

  /// The counts of a database.
  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The wait after so many failures: 2 s after the fourth, then doubled each time.
  static func delay(afterFailures failures: Int64) -> Duration {
    guard failures > freeFailures else { return .zero }
    // 2^10 s is beyond the longest delay.
    return min(.seconds(Int64(1) << min(failures - freeFailures, 10)), longestDelay)
  }

  /// How long an address still has to wait; nil where it may try now.
  ///
  /// - Throws: `SQLiteError`.
  func wait(_ address: [UInt8], at now: Timestamp) throws(SQLiteError) -> Duration? {
    let query = try connection.prepare("SELECT blocked_until FROM throttle WHERE address = ?1")
    try query.bind(address, at: 1)
    guard try query.step() else { return nil }
    let wait = Timestamp(milliseconds: try query.int64(at: 0)) - now
    // A clock that was set back makes no user wait for years.
    return wait > .zero ? min(wait, Self.longestDelay) : nil
  }

  /// Counts a failure.
  ///
  /// - Throws: `SQLiteError`.
  func recordFailure(_ address: [UInt8], at now: Timestamp) throws(SQLiteError) {
    let failures = try self.failures(address) + 1
    let write = try connection.prepare(
      """
      INSERT INTO throttle (address, failures, blocked_until, last_failure_at) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (address) DO UPDATE SET failures = ?2, blocked_until = ?3, last_failure_at = ?4
      """)
    try write.bind(address, at: 1)
    try write.bind(failures, at: 2)
    try write.bind((now + Self.delay(afterFailures: failures)).milliseconds, at: 3)
    try write.bind(now.milliseconds, at: 4)
    try write.run()
  }

  /// Forgets the failures of an address: its user has authenticated.
  ///
  /// - Throws: `SQLiteError`.
  func clear(_ address: [UInt8]) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM throttle WHERE address = ?1")
    try delete.bind(address, at: 1)
    try delete.run()
  }

  /// Removes old failures.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM throttle WHERE last_failure_at < ?1")
    try delete.bind((now + (.zero - Self.memory)).milliseconds, at: 1)
    try delete.run()
  }

  private func failures(_ address: [UInt8]) throws(SQLiteError) -> Int64 {
    let query = try connection.prepare("SELECT failures FROM throttle WHERE address = ?1")
    try query.bind(address, at: 1)
    return try query.step() ? try query.int64(at: 0) : 0
  }
}
