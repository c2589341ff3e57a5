import SQLite
import Testing

/// A table of the vault as somebody with the file sees it.
enum SealedCells: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case session, refreshIntent, pendingLogin, revocation, metadata, event, manifest, head, keyring

  var testDescription: String { rawValue }

  /// One sealed value.
  struct Cell: Equatable {
    var row: Int64
    var name: String
    var box: [UInt8]
  }

  /// Whether it vouches for rows of other tables.
  var isOfLists: Bool { self == .manifest || self == .head }

  private var selection: StaticString {
    switch self {
    case .session: "SELECT rowid, profile, sealed FROM session ORDER BY profile"
    case .refreshIntent: "SELECT rowid, profile, sealed FROM refresh_intent ORDER BY profile"
    case .pendingLogin: "SELECT rowid, profile, sealed FROM pending_login ORDER BY profile"
    case .revocation: "SELECT rowid, name, sealed FROM revocation ORDER BY name"
    case .metadata: "SELECT rowid, name, value FROM metadata ORDER BY name"
    case .event: "SELECT rowid, CAST(ordinal AS TEXT), sealed FROM event ORDER BY ordinal"
    case .manifest: "SELECT rowid, CAST(bucket AS TEXT), sealed FROM manifest ORDER BY bucket"
    case .head: "SELECT rowid, 'head', sealed FROM head"
    case .keyring: "SELECT rowid, 'keyring', wrapped FROM keyring"
    }
  }

  private var change: StaticString {
    switch self {
    case .session: "UPDATE session SET sealed = ?2 WHERE rowid = ?1"
    case .refreshIntent: "UPDATE refresh_intent SET sealed = ?2 WHERE rowid = ?1"
    case .pendingLogin: "UPDATE pending_login SET sealed = ?2 WHERE rowid = ?1"
    case .revocation: "UPDATE revocation SET sealed = ?2 WHERE rowid = ?1"
    case .metadata: "UPDATE metadata SET value = ?2 WHERE rowid = ?1"
    case .event: "UPDATE event SET sealed = ?2 WHERE rowid = ?1"
    case .manifest: "UPDATE manifest SET sealed = ?2 WHERE rowid = ?1"
    case .head: "UPDATE head SET sealed = ?2 WHERE rowid = ?1"
    case .keyring: "UPDATE keyring SET wrapped = ?2 WHERE rowid = ?1"
    }
  }

  private var deletion: StaticString {
    switch self {
    case .session: "DELETE FROM session WHERE rowid = ?1"
    case .refreshIntent: "DELETE FROM refresh_intent WHERE rowid = ?1"
    case .pendingLogin: "DELETE FROM pending_login WHERE rowid = ?1"
    case .revocation: "DELETE FROM revocation WHERE rowid = ?1"
    case .metadata: "DELETE FROM metadata WHERE rowid = ?1"
    case .event: "DELETE FROM event WHERE rowid = ?1"
    case .manifest: "DELETE FROM manifest WHERE rowid = ?1"
    case .head: "DELETE FROM head WHERE rowid = ?1"
    case .keyring: "DELETE FROM keyring WHERE rowid = ?1"
    }
  }

  /// Puts the row under the name `zz`, or the number 999, beside itself; nil where the table has room for one row only.
  private var duplication: StaticString? {
    switch self {
    case .session:
      """
      INSERT INTO session SELECT 'zz', provider_type, issuer, client_id, generation, format, key_id, sealed, saved_at
      FROM session WHERE rowid = ?1
      """
    case .refreshIntent:
      "INSERT INTO refresh_intent SELECT 'zz', generation, started_at, format, sealed FROM refresh_intent WHERE rowid = ?1"
    case .pendingLogin:
      """
      INSERT INTO pending_login SELECT 'zz', provider_type, issuer, client_id, format, sealed FROM pending_login
      WHERE rowid = ?1
      """
    case .revocation:
      """
      INSERT INTO revocation SELECT 'zz/1', provider_type, issuer, client_id, format, sealed FROM revocation
      WHERE rowid = ?1
      """
    case .metadata: "INSERT INTO metadata SELECT 'zz', value FROM metadata WHERE rowid = ?1"
    case .event: "INSERT INTO event SELECT 999, 999, time, format, sealed FROM event WHERE rowid = ?1"
    case .manifest, .head, .keyring: nil
    }
  }

  func cells(_ connection: SQLiteConnection) throws -> [Cell] {
    let rows = try connection.prepare(selection)
    var cells: [Cell] = []
    while try rows.step() {
      cells.append(Cell(row: try rows.int64(at: 0), name: try rows.text(at: 1), box: try rows.blob(at: 2)))
    }
    return cells
  }

  func set(_ row: Int64, to box: [UInt8], _ connection: SQLiteConnection) throws {
    let statement = try connection.prepare(change)
    try statement.bind(row, at: 1)
    try statement.bind(box, at: 2)
    try statement.run()
  }

  func delete(_ row: Int64, _ connection: SQLiteConnection) throws {
    let statement = try connection.prepare(deletion)
    try statement.bind(row, at: 1)
    try statement.run()
  }

  /// Whether there was room.
  func duplicate(_ row: Int64, _ connection: SQLiteConnection) throws -> Bool {
    guard let duplication else { return false }
    let statement = try connection.prepare(duplication)
    try statement.bind(row, at: 1)
    try statement.run()
    return true
  }

  /// The profiles that a change of these rows is blamed on; empty for the vault as a whole.
  func blamed(_ names: String...) -> [String] {
    switch self {
    case .session, .refreshIntent, .pendingLogin: names.sorted()
    case .revocation: names.map { String($0.prefix { $0 != "/" }) }.sorted()
    default: []
    }
  }
}
