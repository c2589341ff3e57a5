import BrokerProtocol
import SQLite
import Sealing
import SecretMemory

/// The keys that sign access tokens, sealed with a key that the broker's vault gives: one that signs, and those that it has
/// replaced.
///
/// A retired key stays until every token that it has signed has expired.
struct SigningKeyTable {
  /// How long a retired key is kept: as long as any access token may live, since the lifetime may have been configured
  /// otherwise when the key was used.
  static let memory = LocalProviderConfiguration.longestAccessTokenLifetime

  private static let table = "signing_key"

  private let connection: SQLiteConnection
  private let seal: RowSeal

  /// The keys of a database.
  init(connection: SQLiteConnection, sealingKey: SealingKey) {
    self.connection = connection
    seal = RowSeal(key: sealingKey)
  }

  /// Adds the key that signs from now on, where none does.
  ///
  /// - Parameters:
  ///   - seed: 32 random bytes (RFC 8032, section 5.1.5).
  ///   - now: when it was made.
  /// - Throws: `SQLiteError`, `SealingError`.
  func insert(_ seed: Secret, at now: Timestamp) throws {
    let keyID = AccessTokenSigner(key: try Ed25519SigningKey(seed: seed)).keyID
    let insert = try connection.prepare("INSERT INTO signing_key (kid, value, created_at) VALUES (?1, ?2, ?3)")
    try insert.bind(keyID, at: 1)
    try insert.bind(seal.seal(seed, table: Self.table, row: keyID), at: 2)
    try insert.bind(now.milliseconds, at: 3)
    try insert.run()
  }

  /// Retires the key that signs, and draws another one; part of a transaction.
  ///
  /// - Throws: `SQLiteError`, `SealingError`.
  func rotate(at now: Timestamp) throws {
    let retire = try connection.prepare("UPDATE signing_key SET retired_at = ?1 WHERE retired_at IS NULL")
    try retire.bind(now.milliseconds, at: 1)
    try retire.run()
    try insert(RandomBytes.secret(count: Ed25519SigningKey.seedByteCount), at: now)
  }

  /// Signs with the key that is not retired.
  ///
  /// - Throws: `LocalStoreFault.keys` where there is none, or it does not open; `SQLiteError`, `SealingError`,
  ///   `SecretMemoryExhausted`.
  func current() throws -> AccessTokenSigner {
    let query = try connection.prepare("SELECT kid, value FROM signing_key WHERE retired_at IS NULL")
    guard try query.step() else { throw LocalStoreFault.keys }
    return try signer(query)
  }

  /// The claims of an access token that one of the keys has signed, its expiry not examined; nil for anything else.
  ///
  /// - Throws: as ``current()``.
  func claims(of token: Secret) throws -> AccessTokenClaims? {
    guard let keyID = AccessTokenSigner.keyID(of: token) else { return nil }
    let query = try connection.prepare("SELECT kid, value FROM signing_key WHERE kid = ?1")
    try query.bind(keyID, at: 1)
    return try query.step() ? try signer(query).claims(of: token) : nil
  }

  /// The keys that verify access tokens: the signing key first, then those whose tokens may not all have expired.
  ///
  /// - Throws: as ``current()``.
  func keySet(at now: Timestamp) throws -> [JSONWebKey] {
    let query = try connection.prepare(
      """
      SELECT kid, value FROM signing_key WHERE retired_at IS NULL OR retired_at > ?1
      ORDER BY retired_at IS NOT NULL, retired_at DESC
      """)
    try query.bind((now + (.zero - Self.memory)).milliseconds, at: 1)
    var keys: [JSONWebKey] = []
    while try query.step() { keys.append(try signer(query).publicJSONWebKey) }
    return keys
  }

  /// Forgets keys whose tokens have all expired.
  ///
  /// - Throws: `SQLiteError`.
  func removeOld(at now: Timestamp) throws(SQLiteError) {
    let delete = try connection.prepare("DELETE FROM signing_key WHERE retired_at <= ?1")
    try delete.bind((now + (.zero - Self.memory)).milliseconds, at: 1)
    try delete.run()
  }

  private func signer(_ row: borrowing Statement) throws -> AccessTokenSigner {
    let keyID = try row.text(at: 0)
    let seed = try row.withBlob(at: 1) { box in try seal.open(box, table: Self.table, row: keyID) }
    guard seed.byteCount == Ed25519SigningKey.seedByteCount else { throw LocalStoreFault.keys }
    return AccessTokenSigner(key: try Ed25519SigningKey(seed: seed))
  }
}
