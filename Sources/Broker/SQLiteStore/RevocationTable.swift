import BrokerCore
import BrokerProtocol
import Records
import SQLite
import SecretMemory

/// The tokens that are still to be revoked: as good as a session's until then.
struct RevocationTable: BoundTable {
  static let kind = Manifest.Table.revocation
  static let table = "revocation"
  static let selection: StaticString =
    "SELECT name, provider_type, issuer, client_id, format, sealed FROM revocation"
  static let replacement: StaticString =
    """
    REPLACE INTO revocation (name, provider_type, issuer, client_id, format, sealed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    """
  static let removal: StaticString = "DELETE FROM revocation WHERE name = ?1"
  static let resealing: StaticString = "UPDATE revocation SET sealed = ?2 WHERE name = ?1"

  let connection: SQLiteConnection
  let seal: VaultSeal

  /// The row's name.
  static func name(of id: PendingRevocation.ID) -> String { NumberedName(id.profile, id.number).text }

  static func value(of row: borrowing Statement, _ opened: OpenedRow) throws -> PendingRevocation? {
    guard let name = NumberedName(opened.name), let binding = opened.place.binding else { return nil }
    let id = PendingRevocation.ID(profile: name.profile, number: name.number)
    return try RevocationCoding.decode(opened.plaintext, id, binding)
  }

  /// Keeps a revocation in place of one of the same name.
  ///
  /// - Returns: the tag of its row.
  /// - Throws: `VaultError.storage`.
  func open(_ revocation: PendingRevocation) throws(VaultError) -> RowTag? {
    try put(RevocationCoding.encode(revocation), as: Self.name(of: revocation.id), of: revocation.binding)
  }

  /// Forgets a revocation.
  ///
  /// - Throws: `VaultError.storage`.
  func close(_ id: PendingRevocation.ID) throws(VaultError) { try remove(Self.name(of: id)) }

  /// Forgets every revocation of a profile, listed or not.
  ///
  /// - Throws: `VaultError.storage`.
  func closeAll(of profile: ProfileName) throws(VaultError) {
    try connection.removeRows("DELETE FROM revocation WHERE name >= ?1 || '/' AND name < ?1 || '0'", of: profile)
  }
}
