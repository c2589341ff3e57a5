import Records
import SQLite
import Sealing
import SecretMemory

/// The sealed values of the vault itself, by name.
struct MetadataTable: SealedTable {
  /// The name of a value.
  enum Name: String {
    /// The key of token fingerprints, from which the keys of the anchor and of the embedded provider are derived too: it
    /// stays the same for the life of the vault, whatever it is sealed with.
    case fingerprintKey
  }

  static let kind = Manifest.Table.metadata
  static let selection: StaticString = "SELECT name, value FROM metadata"
  static let columnCount: Int32 = 2
  static let resealing: StaticString = "UPDATE metadata SET value = ?2 WHERE name = ?1"

  let connection: SQLiteConnection
  let seal: VaultSeal

  static func place(of row: borrowing Statement, named name: String) throws(SQLiteError) -> SealedPlace? {
    SealedPlace(table: "metadata", row: name)
  }

  static func value(of row: borrowing Statement, _ opened: OpenedRow) throws -> Secret? {
    opened.plaintext
  }

  /// Seals a value and writes it, whether there was one or not.
  ///
  /// - Returns: the tag of its row.
  /// - Throws: `VaultError.storage`.
  func set(_ name: Name, to value: Secret) throws(VaultError) -> RowTag? {
    let box = value.withBytes { seal.seal($0, at: SealedPlace(table: "metadata", row: name.rawValue)) }
    do throws(SQLiteError) {
      let statement = try connection.prepare("REPLACE INTO metadata (name, value) VALUES (?1, ?2)")
      try statement.bind(name.rawValue, at: 1)
      try statement.bind(box, at: 2)
      try statement.run()
    } catch { throw .storage(error) }
    return RowTag(ofBox: box.span)
  }
}
