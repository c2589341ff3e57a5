import BrokerProtocol
import SQLite

/// The tables of the embedded provider.
///
/// Times are milliseconds since 1970; a fingerprint is a keyed hash.
enum LocalSchema {
  /// The number of the schema that this program writes.
  static let version: Int32 = 5

  /// Every step that was ever released, in order.
  ///
  /// - Parameters:
  ///   - keys: draws the keys of a new database, and brings those of older schemas to where they rest now.
  ///   - now: when keys are made.
  ///   - isRenewing: whether a person has asked for new keys in place of those that do not open.
  /// - Returns: what brings a database of any earlier number to this one.
  static func migrator(_ keys: LocalKeys, at now: Timestamp, isRenewing: Bool) -> Migrator {
    Migrator(
      [
        Migrator.Migration(1, statements: first),
        Migrator.Migration(2) { _ in try keys.sealAll() },
        Migrator.Migration(3) { connection in
          for statement in third { try connection.execute(statement) }
          try TokenFamilyTable(connection).noteUseOfAll(at: now)
          try keys.moveSigningKey(at: now, isRenewing: isRenewing)
          try AuditHead.start.write(connection, keys.sealingKey)
        },
        Migrator.Migration(4, statements: fourth),
        Migrator.Migration(version) { connection in
          for statement in fifth { try connection.execute(statement) }
          try AccountTable(connection).composeNames()
        },
      ],
      creation: { connection in
        for statement in first + third + fourth + fifth { try connection.execute(statement) }
        try keys.draw(at: now)
        try AuditHead.start.write(connection, keys.sealingKey)
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

  /// Accounts that do more, second factors, tokens by e-mail, several signing keys, and the audit.
  private static let third = accountColumns + otherColumns + factorTables + mailTables + auditTable

  private static let accountColumns: [StaticString] = [
    "ALTER TABLE account ADD COLUMN email_verified_at INTEGER",
    "ALTER TABLE account ADD COLUMN second_factor TEXT NOT NULL DEFAULT 'off'",
    "ALTER TABLE account ADD COLUMN disabled_at INTEGER",
    "ALTER TABLE account ADD COLUMN password_changed_at INTEGER",
    "UPDATE account SET second_factor = 'sms' WHERE phone IS NOT NULL",
  ]

  private static let otherColumns: [StaticString] = [
    "ALTER TABLE otp_flow ADD COLUMN method TEXT NOT NULL DEFAULT 'sms'",
    "ALTER TABLE message ADD COLUMN purpose TEXT NOT NULL DEFAULT 'login'",
    "ALTER TABLE token_family ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE token_family ADD COLUMN last_used_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE token_family ADD COLUMN auth_time INTEGER NOT NULL DEFAULT 0",
    // Authentication methods of RFC 8176, joined by blanks.
    "ALTER TABLE token_family ADD COLUMN amr TEXT NOT NULL DEFAULT ''",
  ]

  private static let factorTables: [StaticString] = [
    // Secrets are sealed; a step of time is used once (RFC 6238, section 5.2).
    """
    CREATE TABLE totp (
      account TEXT PRIMARY KEY REFERENCES account(id), secret BLOB NOT NULL, last_step INTEGER NOT NULL,
      enrolled_at INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE totp_enrolment (
      account TEXT PRIMARY KEY REFERENCES account(id), handle BLOB NOT NULL UNIQUE, secret BLOB NOT NULL,
      attempts INTEGER NOT NULL, expires_at INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE backup_code (
      code BLOB PRIMARY KEY, account TEXT NOT NULL REFERENCES account(id), used_at INTEGER
    ) STRICT
    """,
    "CREATE INDEX backup_code_by_account ON backup_code (account)",
    """
    CREATE TABLE signing_key (
      kid TEXT PRIMARY KEY, value BLOB NOT NULL, created_at INTEGER NOT NULL, retired_at INTEGER
    ) STRICT
    """,
  ]

  private static let mailTables: [StaticString] = [
    // With the address that a token was sent to: it verifies no other one.
    """
    CREATE TABLE mail_token (
      token BLOB PRIMARY KEY, account TEXT NOT NULL, purpose TEXT NOT NULL, email TEXT NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT
    """,
    "CREATE TABLE sent_code (account TEXT NOT NULL, share TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
    "CREATE INDEX sent_code_by_account ON sent_code (account, share, at)",
  ]

  /// Limits for each address that messages go to; the counts of the last day begin again.
  private static let fourth: [StaticString] = [
    "ALTER TABLE account ADD COLUMN phone_verified_at INTEGER",
    // A session of such an account began with a code that went there.
    """
    UPDATE account SET phone_verified_at = created_at
    WHERE phone IS NOT NULL AND second_factor = 'sms' AND id IN (SELECT account FROM token_family)
    """,
    "DROP TABLE sent_code",
    // With the fingerprint of where it went, unless that address was verified; the account may be gone since.
    "CREATE TABLE sent_code (account TEXT, destination BLOB, share TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
    "CREATE INDEX sent_code_by_account ON sent_code (account, share, at)",
    "CREATE INDEX sent_code_by_destination ON sent_code (destination, share, at)",
    "CREATE INDEX sent_code_by_time ON sent_code (share, at)",
  ]

  /// Codes that are sent prove a factor as those of an app do.
  private static let fifth: [StaticString] = [
    "ALTER TABLE totp_enrolment RENAME TO enrolment",
    "ALTER TABLE enrolment ADD COLUMN method TEXT NOT NULL DEFAULT 'totp'",
    // What a code was sent to; its fingerprint is in the place of an app's secret.
    "ALTER TABLE enrolment ADD COLUMN destination TEXT",
    "ALTER TABLE enrolment ADD COLUMN code_length INTEGER NOT NULL DEFAULT 6",
  ]

  /// The triggers hold for other programs that open the file: this one's connection runs none.
  private static let auditTable: [StaticString] = [
    """
    CREATE TABLE audit (
      number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, event TEXT NOT NULL, account TEXT, detail TEXT,
      chain BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TRIGGER audit_refuses_update BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'records of the audit are never changed'); END
    """,
    """
    CREATE TRIGGER audit_refuses_delete BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'records of the audit are never removed'); END
    """,
  ]
}
