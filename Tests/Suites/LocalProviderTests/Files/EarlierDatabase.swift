import BrokerProtocol
import LinuxSystem
import SQLite
import Sealing
import SecretMemory
import Testing

@testable import LocalProvider

/// The database of an earlier version of this program, made with that version's own statements.
final class EarlierDatabase {
  let signingKey = RandomBytes.array(count: 32)
  let macKey = RandomBytes.array(count: 32)
  private let connection: SQLiteConnection

  /// A database of the first or the second schema, which differ only in their keys.
  init(version: Int32, in fixture: ProviderFixture) throws {
    let vaultKey = try #require(fixture.held.key)
    _ = try PrivateDirectory(fixture.directory, create: true)
    connection = try SQLiteConnection(path: fixture.directory + "/db.sqlite", applicationID: 0x4142_4C50)
    for statement in Self.tables { try connection.execute(statement) }
    for (name, key) in [("signing", signingKey), ("mac", macKey)] {
      let value = version == 1 ? key : Self.sealed(key, name, vaultKey)
      let insert = try connection.prepare("INSERT INTO server_key (name, value) VALUES (?1, ?2)")
      try insert.bind(name, at: 1)
      try insert.bind(value, at: 2)
      try insert.run()
    }
    try connection.setSchemaVersion(version)
  }

  func addAccount(
    _ id: String, _ email: String, phone: String? = nil, password: String, work: PasswordHash.Parameters = .smallest
  ) throws {
    let insert = try connection.prepare(
      "INSERT INTO account (id, email, phone, password_hash, created_at) VALUES (?1, ?2, ?3, ?4, 1700000000000)")
    try insert.bind(id, at: 1)
    try insert.bind(email, at: 2)
    if let phone { try insert.bind(phone, at: 3) }
    try insert.bind(try PasswordHash(parameters: work).hash(Secret(utf8: password)), at: 4)
    try insert.run()
  }

  /// Adds a login that waits for its code, and the message with it.
  func addFlow(of account: String) throws {
    let flow = try connection.prepare(
      """
      INSERT INTO otp_flow (handle, account, scopes, code, code_length, attempts, sends, expires_at, resend_at)
      VALUES (x'01', ?1, '', x'02', 6, 0, 1, 1900000000000, 1700000000000)
      """)
    try flow.bind(account, at: 1)
    try flow.run()
    let message = try connection.prepare("INSERT INTO message (account, expires_at) VALUES (?1, 1900000000000)")
    try message.bind(account, at: 1)
    try message.run()
  }

  /// Adds a session with a refresh token.
  func addSession(of account: String, refreshToken: String) throws {
    let family = try connection.prepare(
      "INSERT INTO token_family (id, account, scopes, expires_at) VALUES ('family', ?1, 'read', 1900000000000)")
    try family.bind(account, at: 1)
    try family.run()
    let macKey = macKey
    let fingerprint = Fingerprint(hash: try KeyedHash(key: Secret(copying: macKey.span)))
    let token = try connection.prepare("INSERT INTO refresh_token (token, family) VALUES (?1, 'family')")
    try token.bind(fingerprint.of(try Secret(utf8: refreshToken), .refreshToken), at: 1)
    try token.run()
  }

  func close() throws { try connection.close() }

  private static func sealed(_ key: [UInt8], _ name: String, _ sealingKey: SealingKey) -> [UInt8] {
    var place = AssociatedData()
    for field in ["local-provider", "server_key", name] { place.append(field) }
    return SealedBox.seal(key.span, context: place, key: sealingKey)
  }

  private static let tables: [StaticString] = [
    "CREATE TABLE server_key (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT",
    """
    CREATE TABLE account (
      id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT, phone TEXT,
      password_hash BLOB NOT NULL, created_at INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE throttle (
      address BLOB PRIMARY KEY, failures INTEGER NOT NULL, blocked_until INTEGER NOT NULL,
      last_failure_at INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE otp_flow (
      handle BLOB PRIMARY KEY, account TEXT NOT NULL UNIQUE REFERENCES account(id), scopes TEXT NOT NULL,
      code BLOB NOT NULL, code_length INTEGER NOT NULL, attempts INTEGER NOT NULL, sends INTEGER NOT NULL,
      expires_at INTEGER NOT NULL, resend_at INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE message (
      number INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL REFERENCES account(id),
      expires_at INTEGER NOT NULL
    ) STRICT
    """,
    "CREATE INDEX message_by_account ON message (account)",
    """
    CREATE TABLE token_family (
      id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES account(id), scopes TEXT NOT NULL,
      expires_at INTEGER NOT NULL, revoked_at INTEGER
    ) STRICT
    """,
    "CREATE INDEX token_family_by_account ON token_family (account)",
    """
    CREATE TABLE refresh_token (
      token BLOB PRIMARY KEY, family TEXT NOT NULL REFERENCES token_family(id), spent_at INTEGER
    ) STRICT
    """,
    "CREATE INDEX refresh_token_by_family ON refresh_token (family)",
  ]
}
