import SQLite

/// What the database looks like, and how it came to look so.
enum VaultSchema {
  /// "ABVT": how `file` and other programs tell a vault from another database.
  static let applicationID: Int32 = 0x4142_5654

  /// The steps so far.
  ///
  /// One that was released never changes.
  static var migrator: Migrator {
    Migrator([
      .init(
        1,
        statements: [
          // What the seal is bound to stands beside it in the clear: it must be known to open it, and is no secret.
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
        ])
    ])
  }
}
