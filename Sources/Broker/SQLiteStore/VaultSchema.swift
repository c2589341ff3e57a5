import SQLite

/// The schema of the database, and its migrations.
enum VaultSchema {
  /// "ABVT": how `file` and other programs tell a vault from another database.
  static let applicationID: Int32 = 0x4142_5654

  /// The number of the schema that this program writes.
  static let version: Int32 = 7

  /// The number of the first schema with a key ring, which had no place for tokens that are still to be revoked.
  static let keyedVersion: Int32 = 2

  /// The number of the first schema with tokens that are still to be revoked, whose events were one series.
  static let revocationVersion: Int32 = 3

  /// The number of the first schema whose events were two series, which had no place for sessions that the configuration
  /// has signed out.
  static let seriesVersion: Int32 = 4

  /// The number of the first schema with sessions that the configuration has signed out, which had no audit.
  static let parkedVersion: Int32 = 5

  /// The number of the first schema with an audit, which had no place for the requests that clients queue.
  static let auditVersion: Int32 = 6

  /// The number of the schema in which everything was sealed directly under the key file's key.
  static let unkeyedVersion: Int32 = 1

  /// The steps so far, in the order of their numbers.
  ///
  /// One that was released never changes.
  ///
  /// - Parameters:
  ///   - create: fills the tables of a new vault.
  ///   - reseal: seals what the first schema held under a data key; the new tables are there already.
  /// - Returns: what brings a database of any earlier number to this one.
  static func migrator(
    create: @escaping (SQLiteConnection) throws -> Void, reseal: @escaping (SQLiteConnection) throws -> Void
  ) -> Migrator {
    Migrator(
      [
        .init(unkeyedVersion, statements: first),
        .init(keyedVersion) { connection in
          for statement in second { try connection.execute(statement) }
          try reseal(connection)
        },
        .init(revocationVersion, statements: third),
        // The head has more to say, and lasting events have ordinals of their own: no table changes.
        .init(seriesVersion, statements: []),
        .init(parkedVersion, statements: fifth),
        .init(auditVersion, statements: sixth),
        .init(version, statements: seventh),
      ],
      creation: { connection in
        for statement in first + second + third + fifth + sixth + seventh { try connection.execute(statement) }
        try create(connection)
      })
  }

  /// The first version of the tables.
  ///
  /// The fields that a seal is bound to have cleartext columns: they must be known to open it, and are no secret.
  private static let first: [StaticString] = [
    """
    CREATE TABLE session (
      profile TEXT NOT NULL PRIMARY KEY,
      provider_type TEXT NOT NULL,
      issuer TEXT NOT NULL,
      client_id TEXT NOT NULL,
      generation INTEGER NOT NULL,
      format INTEGER NOT NULL,
      key_id BLOB NOT NULL,
      sealed BLOB NOT NULL,
      saved_at INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE metadata (
      name TEXT NOT NULL PRIMARY KEY,
      value BLOB NOT NULL
    ) STRICT
    """,
  ]

  private static let second: [StaticString] = [
    // One row: the data key, wrapped under the key of the source that is named.
    """
    CREATE TABLE keyring (
      only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
      vault_id BLOB NOT NULL,
      key_id BLOB NOT NULL,
      source TEXT NOT NULL,
      salt BLOB,
      passes INTEGER,
      memory INTEGER,
      wrapped BLOB NOT NULL,
      created_at INTEGER NOT NULL,
      retired_key_file TEXT
    ) STRICT
    """,
    """
    CREATE TABLE refresh_intent (
      profile TEXT NOT NULL PRIMARY KEY,
      generation INTEGER NOT NULL,
      started_at INTEGER NOT NULL,
      format INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE pending_login (
      profile TEXT NOT NULL PRIMARY KEY,
      provider_type TEXT NOT NULL,
      issuer TEXT NOT NULL,
      client_id TEXT NOT NULL,
      format INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
    // Ordinals have no gap, so that one that is missing is noticed; sequences have.
    """
    CREATE TABLE event (
      ordinal INTEGER NOT NULL PRIMARY KEY,
      sequence INTEGER NOT NULL UNIQUE,
      time INTEGER NOT NULL,
      format INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE manifest (
      bucket INTEGER NOT NULL PRIMARY KEY,
      generation INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
    // The sequence stands beside the seal: it is raised while no key is in memory.
    """
    CREATE TABLE head (
      only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
      generation INTEGER NOT NULL,
      sequence INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
  ]

  private static let third: [StaticString] = [
    """
    CREATE TABLE revocation (
      name TEXT NOT NULL PRIMARY KEY,
      provider_type TEXT NOT NULL,
      issuer TEXT NOT NULL,
      client_id TEXT NOT NULL,
      format INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """
  ]

  private static let fifth: [StaticString] = [
    """
    CREATE TABLE parked_session (
      name TEXT NOT NULL PRIMARY KEY,
      provider_type TEXT NOT NULL,
      issuer TEXT NOT NULL,
      client_id TEXT NOT NULL,
      generation INTEGER NOT NULL,
      since INTEGER NOT NULL,
      may_be_spent INTEGER NOT NULL,
      format INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """
  ]

  private static let sixth: [StaticString] = [
    // Numbers have no gap. The head of the vault has the last one, and the checkpoint the link of those that were pruned.
    """
    CREATE TABLE audit (
      number INTEGER NOT NULL PRIMARY KEY,
      time INTEGER NOT NULL,
      format INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE audit_checkpoint (
      only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
      number INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
  ]

  private static let seventh: [StaticString] = [
    """
    CREATE TABLE queued_request (
      name TEXT NOT NULL PRIMARY KEY,
      provider_type TEXT NOT NULL,
      issuer TEXT NOT NULL,
      client_id TEXT NOT NULL,
      format INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
    // What is sent, or what came. A number tells the one from the other, and neither is ever written twice.
    """
    CREATE TABLE queued_contents (
      name TEXT NOT NULL PRIMARY KEY,
      is_answer INTEGER NOT NULL,
      format INTEGER NOT NULL,
      sealed BLOB NOT NULL
    ) STRICT
    """,
  ]
}
