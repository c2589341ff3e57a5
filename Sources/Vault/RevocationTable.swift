import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory

/// The tokens that are still to be revoked: as good as a session's until the provider has been told.
struct RevocationTable: SealedTable {
  static let kind = Manifest.Table.revocation
  static let selection: StaticString =
    "SELECT name, provider_type, issuer, client_id, format, sealed FROM revocation"
  static let columnCount: Int32 = 6
  static let resealing: StaticString = "UPDATE revocation SET sealed = ?2 WHERE name = ?1"

  let connection: SQLiteConnection
  let seal: VaultSeal

  /// The row's name: the profile's, which has no stroke in it, and the number behind it.
  static func name(of id: PendingRevocation.ID) -> String { "\(id.profile)/\(id.number)" }

  static func place(of row: borrowing Statement, named name: String) throws(SQLiteError) -> SealedPlace? {
    SealedPlace(
      table: "revocation", row: name, format: try row.int64(at: 4),
      binding: ProviderBinding(type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3)))
  }

  static func value(
    of row: borrowing Statement, named name: String, _ plaintext: Secret
  ) throws -> PendingRevocation? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let profile = ProfileName(String(parts[0])), let number = UInt64(parts[1]) else {
      return nil
    }
    let id = PendingRevocation.ID(profile: profile, number: number)
    let binding = ProviderBinding(type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3))
    return Self.name(of: id) == name ? try RevocationCoding.decode(plaintext, id, binding) : nil
  }

  /// Keeps a revocation in place of one of the same name.
  ///
  /// - Returns: the tag of its row.
  /// - Throws: `VaultError.storage`.
  func open(_ revocation: PendingRevocation) throws(VaultError) -> RowTag? {
    let name = Self.name(of: revocation.id)
    var plaintext = RevocationCoding.encode(revocation)
    defer { wipe(&plaintext) }
    let box = seal.seal(
      plaintext.span, at: SealedPlace(table: "revocation", row: name, binding: revocation.binding))
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        """
        REPLACE INTO revocation (name, provider_type, issuer, client_id, format, sealed)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """)
      try statement.bind(name, at: 1)
      try statement.bind(revocation.binding.type, at: 2)
      try statement.bind(revocation.binding.issuer, at: 3)
      try statement.bind(revocation.binding.clientID, at: 4)
      try statement.bind(SealedPlace.currentFormat, at: 5)
      try statement.bind(box, at: 6)
      try statement.run()
    } catch { throw .storage(error) }
    return RowTag(ofBox: box.span)
  }

  /// Forgets a revocation.
  ///
  /// - Throws: `VaultError.storage`.
  func close(_ name: String) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare("DELETE FROM revocation WHERE name = ?1")
      try statement.bind(name, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// Forgets every revocation of a profile, listed or not.
  ///
  /// - Throws: `VaultError.storage`.
  func closeAll(of profile: ProfileName) throws(VaultError) {
    do throws(SQLiteError) {
      // The names that begin with the profile's and a stroke: the zero is the character behind the stroke.
      let statement = try connection.prepare("DELETE FROM revocation WHERE name >= ?1 || '/' AND name < ?1 || '0'")
      try statement.bind(profile.description, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }
}
