import BrokerProtocol
import SQLite
import Sealing
import SecretMemory

/// The provider's own keys, as they rest in its database: sealed with a key that the broker's vault gives.
///
/// So a copy of the state directory without the vault's key makes no token and tries no code. They are opened for one
/// call at a time: while the vault is locked, none of them is in memory.
struct LocalKeys {
  /// The purpose of a key; the names are part of the format.
  enum Name: String, CaseIterable {
    /// Signed access tokens until the second schema; see ``SigningKeyTable``.
    case signing
    /// Hashes what is only ever compared.
    case mac
  }

  /// The provider's database.
  let connection: SQLiteConnection
  /// Seals and opens them.
  let sealingKey: SealingKey

  /// The table that they are in.
  static let table = "server_key"
  /// How many bytes each of them has.
  private static let byteCount = 32

  private var seal: RowSeal { RowSeal(key: sealingKey) }

  /// The keys that sign access tokens.
  var signingKeys: SigningKeyTable { SigningKeyTable(connection: connection, sealingKey: sealingKey) }

  /// Draws all keys: for a database that was just made, or after a person asked for it.
  ///
  /// - Throws: `SQLiteError`, `SealingError`, `SecretMemoryExhausted`.
  func draw(at now: Timestamp) throws {
    try write(RandomBytes.secret(count: Self.byteCount), as: .mac)
    try signingKeys.insert(RandomBytes.secret(count: Self.byteCount), at: now)
  }

  /// Tries all keys, and what is sealed with the vault's key beside them.
  ///
  /// - Throws: `LocalStoreFault.keys` where one is missing, damaged or sealed with another key; `SQLiteError`,
  ///   `SecretMemoryExhausted`.
  func check() throws {
    _ = try open(.mac)
    _ = try signingKeys.current()
    _ = try AuditHead.read(connection, sealingKey)
  }

  /// Hashes whatever is only ever compared.
  ///
  /// - Throws: as ``open(_:)``.
  func fingerprint() throws -> Fingerprint { Fingerprint(hash: try KeyedHash(key: try open(.mac))) }

  /// Moves the signing key of the second schema to the table of its own.
  ///
  /// - Parameters:
  ///   - now: since when it counts as made.
  ///   - isRenewing: whether one that does not open is given up, since another is drawn afterwards.
  /// - Throws: as ``open(_:)``.
  func moveSigningKey(at now: Timestamp, isRenewing: Bool) throws {
    do { try signingKeys.insert(try open(.signing), at: now) } catch let fault as LocalStoreFault {
      guard isRenewing else { throw fault }
    }
    try connection.execute("DELETE FROM server_key WHERE name = 'signing'")
  }

  /// Seals the keys of a database in which they lie in the clear.
  ///
  /// One that is missing is drawn only where nothing was ever made with it.
  ///
  /// - Throws: `LocalStoreFault.keys`, `SQLiteError`, `SecretMemoryExhausted`.
  func sealAll() throws {
    for name in Name.allCases {
      if let key = try stored(name, { bytes in try Secret(copying: bytes) }) {
        guard key.byteCount == Self.byteCount else { throw LocalStoreFault.keys }
        try write(key, as: name)
      } else {
        guard try AccountTable(connection).isEmpty() else { throw LocalStoreFault.keys }
        try write(RandomBytes.secret(count: Self.byteCount), as: name)
      }
    }
  }

  /// Opens a key.
  ///
  /// - Throws: `LocalStoreFault.keys` where it is missing, damaged or sealed with another key; `SQLiteError`,
  ///   `SecretMemoryExhausted`.
  func open(_ name: Name) throws -> Secret {
    let key = try stored(name) { box in try seal.open(box, table: Self.table, row: name.rawValue) }
    guard let key, key.byteCount == Self.byteCount else { throw LocalStoreFault.keys }
    return key
  }

  private func stored<R>(_ name: Name, _ body: (Span<UInt8>) throws -> R) throws -> R? {
    let query = try connection.prepare("SELECT value FROM server_key WHERE name = ?1")
    try query.bind(name.rawValue, at: 1)
    return try query.step() ? try query.withBlob(at: 0) { try body($0) } : nil
  }

  private func write(_ key: Secret, as name: Name) throws {
    let statement = try connection.prepare("REPLACE INTO server_key (name, value) VALUES (?1, ?2)")
    try statement.bind(name.rawValue, at: 1)
    try statement.bind(seal.seal(key, table: Self.table, row: name.rawValue), at: 2)
    try statement.run()
  }
}
