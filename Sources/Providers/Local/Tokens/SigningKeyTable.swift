import BrokerProtocol
import SQLite
import Sealing
import SecretMemory

/// The keys that sign access tokens, sealed with a key that the broker's vault gives.
struct SigningKeyTable {
  /// The provider's database.
  let connection: SQLiteConnection
  /// Seals and opens them.
  let sealingKey: SealingKey

  /// Adds a key, which signs from now on.
  ///
  /// - Parameters:
  ///   - seed: 32 random bytes (RFC 8032, section 5.1.5).
  ///   - now: when it was made.
  /// - Throws: `SQLiteError`, `SealingError`.
  func insert(_ seed: Secret, at now: Timestamp) throws {
    let keyID = AccessTokenSigner(key: try Ed25519SigningKey(seed: seed)).keyID
    let box = seed.withBytes { SealedBox.seal($0, context: Self.place(keyID), key: sealingKey) }
    let insert = try connection.prepare("INSERT INTO signing_key (kid, value, created_at) VALUES (?1, ?2, ?3)")
    try insert.bind(keyID, at: 1)
    try insert.bind(box, at: 2)
    try insert.bind(now.milliseconds, at: 3)
    try insert.run()
  }

  /// The seed of the key that signs.
  ///
  /// - Throws: `LocalStoreFault.keys` where it is missing, damaged or sealed with another key; `SQLiteError`,
  ///   `SecretMemoryExhausted`.
  func current() throws -> Secret {
    let query = try connection.prepare(
      "SELECT kid, value FROM signing_key WHERE retired_at IS NULL ORDER BY created_at DESC LIMIT 1")
    guard try query.step() else { throw LocalStoreFault.keys }
    let place = Self.place(try query.text(at: 0))
    do {
      return try query.withBlob(at: 1) { box in try SealedBox.open(box, context: place, key: sealingKey) }
    } catch SealingError.secretMemoryExhausted {
      throw SecretMemoryExhausted()
    } catch is SealingError {
      throw LocalStoreFault.keys
    }
  }

  private static func place(_ keyID: String) -> AssociatedData {
    var place = AssociatedData()
    place.append("local-provider")
    place.append("signing_key")
    place.append(keyID)
    return place
  }
}
