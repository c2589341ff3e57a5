import SQLite
import Sealing
import SecretMemory

/// The sealed values of the vault itself, by name.
struct MetadataTable {
  /// The name of a value.
  enum Name: String {
    /// Opens with the right key only, so that a wrong key is told from damage.
    case keyCheck
    /// The key of token fingerprints.
    case fingerprintKey
    /// The last sequence that may have been given: eight big-endian bytes.
    case sequence
  }

  /// The vault's database; open as long as the vault is.
  let connection: SQLiteConnection
  /// Seals and opens what the rows hold.
  let key: SealingKey

  /// A value; nil where there is none.
  ///
  /// - Throws: `VaultError.wrongKey`, `.damaged`, `.storage`, `.secretMemoryExhausted`.
  func value(_ name: Name) throws(VaultError) -> Secret? {
    guard let box = try box(name) else { return nil }
    do throws(SealingError) {
      return try SealedBox.open(box.span, context: SealedPlace.metadata(name.rawValue, key: key.id), key: key)
    } catch {
      switch error {
      case .wrongKey: throw .wrongKey
      case .secretMemoryExhausted: throw .secretMemoryExhausted
      default: throw .damaged(part: name.rawValue)
      }
    }
  }

  /// Seals a value and writes it, whether there was one or not.
  ///
  /// - Throws: `VaultError.storage`.
  func set(_ name: Name, to value: Span<UInt8>) throws(VaultError) {
    let box = SealedBox.seal(value, context: SealedPlace.metadata(name.rawValue, key: key.id), key: key)
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        "INSERT INTO metadata (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
      try statement.bind(name.rawValue, at: 1)
      try statement.bind(box, at: 2)
      try statement.run()
    } catch { throw .storage(error) }
  }

  private func box(_ name: Name) throws(VaultError) -> [UInt8]? {
    do throws(SQLiteError) {
      let statement = try connection.prepare("SELECT value FROM metadata WHERE name = ?1")
      try statement.bind(name.rawValue, at: 1)
      return try statement.step() ? try statement.blob(at: 0) : nil
    } catch { throw error.code == .mismatch ? .damaged(part: name.rawValue) : .storage(error) }
  }
}
