import LinuxSystem
import SQLite
import Sealing
import SecretMemory

/// The provider's files, open: its tables, its keys and its outbox.
///
/// The keys lie in the database as they are: the provider plays a remote server, whose own disk is trusted by itself
/// alone. What the broker keeps of a session is sealed elsewhere.
final class LocalDatabase {
  /// Marks the file as this provider's: `ABLP`.
  private static let applicationID: Int32 = 0x4142_4C50

  /// The tables.
  let connection: SQLiteConnection
  /// Signs access tokens.
  let signer: AccessTokenSigner
  /// Hashes whatever is only ever compared.
  let fingerprint: Fingerprint
  /// Where messages go.
  let outbox: Outbox

  /// Opens the files below a directory and makes what is missing.
  ///
  /// - Parameter path: absolute.
  /// - Throws: `PrivateDirectory.Refusal`, `SQLiteError` (`.locked` or `.busy` where another provider has it),
  ///   `MigrationError`, `SealingError`, `SecretMemoryExhausted`.
  init(directory path: String) throws {
    // Only checked: the files are named by path.
    _ = try PrivateDirectory(path, create: true)
    outbox = Outbox(directory: try PrivateDirectory(path + "/outbox", create: true))
    connection = try SQLiteConnection(path: path + "/db.sqlite", applicationID: Self.applicationID)
    try LocalSchema.migrator.migrate(connection)
    signer = AccessTokenSigner(key: try Ed25519SigningKey(seed: try Self.key("signing", in: connection)))
    fingerprint = Fingerprint(hash: try KeyedHash(key: try Self.key("mac", in: connection)))
  }

  /// A key of the server, made when it is first asked for.
  private static func key(_ name: String, in connection: SQLiteConnection) throws -> Secret {
    let query = try connection.prepare("SELECT value FROM server_key WHERE name = ?1")
    try query.bind(name, at: 1)
    if try query.step() {
      return try query.withBlob(at: 0) { bytes in try Secret(copying: bytes) }
    }
    let key = try RandomBytes.secret(count: 32)
    let insert = try connection.prepare("INSERT INTO server_key (name, value) VALUES (?1, ?2)")
    try insert.bind(name, at: 1)
    try key.withBytes { bytes in try insert.bind(bytes, at: 2) }
    try insert.run()
    return key
  }
}
