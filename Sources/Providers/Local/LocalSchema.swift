import SQLite

/// The tables of the embedded provider.
///
/// Times are milliseconds since 1970; a fingerprint is a keyed hash.
enum LocalSchema {
  /// The number of the schema that this program writes.
  static let version: Int32 = 2

  /// Every step that was ever released, in order.
  ///
  /// - Parameter keys: draws the keys of a new database, and seals those of the first schema, which lay in the clear.
  /// - Returns: what brings a database of any earlier number to this one.
  static func migrator(_ keys: LocalKeys) -> Migrator {
    Migrator(
      [
        Migrator.Migration(1, statements: first),
        Migrator.Migration(version) { _ in try keys.sealAll() },
      ],
      creation: { connection in
        for statement in first { try connection.execute(statement) }
        try keys.draw()
      })
  }

  private static let first: [StaticString] = [
    "CREATE TABLE server_key (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT",
    """
    CREATE TABLE account (
      id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT, phone TEXT,
      password_hash BLOB NOT NULL, created_at INTEGER NOT NULL
    ) STRICT
    """,
    // By the fingerprint of an e-mail address, so that unknown addresses are slowed down just the same.
    """
    CREATE TABLE throttle (
      address BLOB PRIMARY KEY, failures INTEGER NOT NULL, blocked_until INTEGER NOT NULL,
      last_failure_at INTEGER NOT NULL
    ) STRICT
    """,
    // One for each account at most: what is guessed at is one code, however often a login is begun.
    """
    CREATE TABLE otp_flow (
      handle BLOB PRIMARY KEY, account TEXT NOT NULL UNIQUE REFERENCES account(id), scopes TEXT NOT NULL,
      code BLOB NOT NULL, code_length INTEGER NOT NULL, attempts INTEGER NOT NULL, sends INTEGER NOT NULL,
      expires_at INTEGER NOT NULL, resend_at INTEGER NOT NULL
    ) STRICT
    """,
    // The number of a message is never given again.
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
