/// Why the database did not do what it was asked; no value of a statement is in it, and no password.
package enum PostgreSQLError: Error, Sendable, Equatable, CustomStringConvertible {
  /// libpq.so.5 is not installed.
  case libraryMissing
  /// The connection string cannot be read.
  case unreadable
  /// The connection string has the password in it.
  case passwordInConnection
  /// The connection string does not say where the database is.
  case hostMissing
  /// The password could not be got; the reason is a sentence of the place where it is.
  case passwordMissing(String)
  /// No connection could be made.
  case notConnected(String)
  /// The connection ended, or its time did, behind a statement: whether it was carried out is not known.
  case lost(String)
  /// The server refused the statement, with this SQLSTATE (PostgreSQL, appendix A).
  case refused(state: String, String)

  package var description: String {
    switch self {
    case .libraryMissing: "libpq.so.5 is not installed; install the package libpq5"
    case .unreadable: "store.postgres.connection is no connection string"
    case .passwordInConnection:
      "store.postgres.connection has a password in it; name its place in store.postgres.password"
    case .hostMissing: "store.postgres.connection must name the host of the database, or the directory of its socket"
    case .passwordMissing(let reason): reason
    case .notConnected(let reason): reason
    case .lost(let reason): reason
    case .refused(let state, let reason): "\(reason) (SQLSTATE \(state))"
    }
  }

  /// The state of an undefined table.
  package static let undefinedTable = "42P01"
}
