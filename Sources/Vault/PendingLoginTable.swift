import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory

/// The logins that wait for a code, one a profile: the provider's handle in them is worth as much as a password.
struct PendingLoginTable: SealedTable {
  static let kind = Manifest.Table.pendingLogin
  static let selection: StaticString =
    "SELECT profile, provider_type, issuer, client_id, format, sealed FROM pending_login"
  static let columnCount: Int32 = 6
  static let resealing: StaticString = "UPDATE pending_login SET sealed = ?2 WHERE profile = ?1"

  let connection: SQLiteConnection
  let seal: VaultSeal

  static func place(of row: borrowing Statement, named name: String) throws(SQLiteError) -> SealedPlace? {
    SealedPlace(
      table: "pending_login", row: name, format: try row.int64(at: 4),
      binding: ProviderBinding(type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3)))
  }

  static func value(
    of row: borrowing Statement, named name: String, _ plaintext: Secret
  ) throws -> PendingLoginRecord? {
    let login = try PendingLoginCoding.decode(plaintext)
    guard login.profile.description == name else { return nil }
    let binding = ProviderBinding(type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3))
    return PendingLoginRecord(binding: binding, login: login)
  }

  /// Keeps a login in place of an earlier one.
  ///
  /// - Returns: the tag of its row.
  /// - Throws: `VaultError.storage`.
  func open(_ record: PendingLoginRecord) throws(VaultError) -> RowTag? {
    let name = record.login.profile.description
    var plaintext = PendingLoginCoding.encode(record.login)
    defer { wipe(&plaintext) }
    let box = seal.seal(
      plaintext.span, at: SealedPlace(table: "pending_login", row: name, binding: record.binding))
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        """
        REPLACE INTO pending_login (profile, provider_type, issuer, client_id, format, sealed)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """)
      try statement.bind(name, at: 1)
      try statement.bind(record.binding.type, at: 2)
      try statement.bind(record.binding.issuer, at: 3)
      try statement.bind(record.binding.clientID, at: 4)
      try statement.bind(SealedPlace.currentFormat, at: 5)
      try statement.bind(box, at: 6)
      try statement.run()
    } catch { throw .storage(error) }
    return RowTag(ofBox: box.span)
  }

  /// Forgets the login of a profile.
  ///
  /// - Throws: `VaultError.storage`.
  func close(_ profile: ProfileName) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare("DELETE FROM pending_login WHERE profile = ?1")
      try statement.bind(profile.description, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }
}
