import BrokerCore
import BrokerProtocol
import Records
import SQLite
import SecretMemory

/// The logins that wait for a code, one a profile: the provider's handle in them is worth as much as a password.
struct PendingLoginTable: BoundTable {
  static let kind = Manifest.Table.pendingLogin
  static let table = "pending_login"
  static let selection: StaticString =
    "SELECT profile, provider_type, issuer, client_id, format, sealed FROM pending_login"
  static let replacement: StaticString =
    """
    REPLACE INTO pending_login (profile, provider_type, issuer, client_id, format, sealed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    """
  static let removal: StaticString = "DELETE FROM pending_login WHERE profile = ?1"
  static let resealing: StaticString = "UPDATE pending_login SET sealed = ?2 WHERE profile = ?1"

  let connection: SQLiteConnection
  let seal: VaultSeal

  static func value(of row: borrowing Statement, _ opened: OpenedRow) throws -> PendingLoginRecord? {
    let login = try PendingLoginCoding.decode(opened.plaintext)
    guard login.profile.description == opened.name, let binding = opened.place.binding else { return nil }
    return PendingLoginRecord(binding: binding, login: login)
  }

  /// Keeps a login in place of an earlier one.
  ///
  /// - Returns: the tag of its row.
  /// - Throws: `VaultError.storage`.
  func open(_ record: PendingLoginRecord) throws(VaultError) -> RowTag? {
    try put(PendingLoginCoding.encode(record.login), as: record.login.profile.description, of: record.binding)
  }

  /// Forgets the login of a profile.
  ///
  /// - Throws: `VaultError.storage`.
  func close(_ profile: ProfileName) throws(VaultError) { try remove(profile.description) }
}
