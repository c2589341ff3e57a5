import BrokerCore
import Records
import SQLite
import SecretMemory

/// A table whose rows are a name, the provider that the row belongs to, and the sealed value; nothing else.
protocol BoundTable: SealedTable {
  /// Its name in the database.
  static var table: String { get }
  /// The statement that inserts a row of all columns, in the order of the selection (?1 to ?6), in place of one of the
  /// same name.
  static var replacement: StaticString { get }
  /// Takes out the row of a name (?1).
  static var removal: StaticString { get }
}

extension BoundTable {
  /// The name, the three of the provider, the format and the box.
  static var columnCount: Int32 { 6 }

  /// The table, the name, the format and the provider: nothing else of a row is bound.
  static func place(of row: borrowing Statement, named name: String) throws(SQLiteError) -> SealedPlace? {
    SealedPlace(table: table, row: name, format: try row.int64(at: 4), binding: try binding(of: row))
  }

  /// The provider that a row belongs to.
  ///
  /// - Throws: as the statement.
  static func binding(of row: borrowing Statement) throws(SQLiteError) -> ProviderBinding {
    ProviderBinding(type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3))
  }

  /// Seals a value as the row of a name, in place of an earlier one; the plaintext is wiped.
  ///
  /// - Returns: the tag of the row.
  /// - Throws: `VaultError.storage`.
  func put(_ plaintext: consuming [UInt8], as name: String, of binding: ProviderBinding) throws(VaultError) -> RowTag? {
    defer { wipe(&plaintext) }
    let box = seal.seal(plaintext.span, at: SealedPlace(table: Self.table, row: name, binding: binding))
    do throws(SQLiteError) {
      let statement = try connection.prepare(Self.replacement)
      try statement.bind(name, at: 1)
      try statement.bind(binding.type, at: 2)
      try statement.bind(binding.issuer, at: 3)
      try statement.bind(binding.clientID, at: 4)
      try statement.bind(SealedPlace.currentFormat, at: 5)
      try statement.bind(box, at: 6)
      try statement.run()
    } catch { throw .storage(error) }
    return RowTag(ofBox: box.span)
  }

  /// Takes out the row of a name, if there is one.
  ///
  /// - Throws: `VaultError.storage`.
  func remove(_ name: String) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare(Self.removal)
      try statement.bind(name, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }
}
