import BrokerCore
import BrokerProtocol
import Records
import SQLite
import Sealing
import SecretMemory
import TextCoding

/// The parked sessions: sealed as those of configured profiles are.
struct ParkedSessionTable: SealedTable {
  static let kind = Manifest.Table.parkedSession
  static let selection: StaticString =
    "SELECT name, provider_type, issuer, client_id, generation, since, may_be_spent, format, sealed FROM parked_session"
  static let columnCount: Int32 = 9
  static let resealing: StaticString = "UPDATE parked_session SET sealed = ?2 WHERE name = ?1"

  /// How much of the binding's hash tells the rows of one profile apart.
  private static let hashByteCount = 16

  let connection: SQLiteConnection
  let seal: VaultSeal

  /// The row's name: the profile's, which has no stroke in it, and a hash of the session's binding.
  static func name(of id: ParkedSession.ID) -> String {
    var bytes: [UInt8] = []
    for part in [id.binding.type, id.binding.issuer, id.binding.clientID] {
      bytes += part.utf8
      // No text of a binding has it, so that no two bindings are the same text.
      bytes.append(0)
    }
    let digest = Base64.encode(KeyedHash.unkeyedDigest(of: bytes.span, count: hashByteCount).span, as: .url)
    return "\(id.profile)/\(String(decoding: digest, as: UTF8.self))"
  }

  static func place(of row: borrowing Statement, named name: String) throws(SQLiteError) -> SealedPlace? {
    let binding = ProviderBinding(type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3))
    return SealedPlace(
      table: "parked_session", row: name, format: try row.int64(at: 7), binding: binding,
      numbers: [try row.int64(at: 4), try row.int64(at: 5), try row.int64(at: 6)])
  }

  static func value(of row: borrowing Statement, _ opened: OpenedRow) throws -> ParkedSession? {
    guard let profile = ProfileName(String(opened.name.prefix { $0 != "/" })), let binding = opened.place.binding,
      name(of: ParkedSession.ID(profile, binding)) == opened.name,
      let generation = UInt64(exactly: try row.int64(at: 4))
    else { return nil }
    let sealed = SealedContents(box: try row.blob(at: columnCount - 1), opened)
    let contents = try SessionContentsCoding.decode(opened.plaintext, sealed)
    return ParkedSession(
      SessionRecord(profile: profile, binding: binding, generation: generation, contents: contents),
      since: Timestamp(milliseconds: try row.int64(at: 5)), mayBeSpent: try row.int64(at: 6) != 0)
  }

  /// Keeps a session in place of an earlier one of the same name.
  ///
  /// - Returns: the tag of its row; nil for a generation that no record can have.
  /// - Throws: `VaultError.storage`.
  func open(_ session: ParkedSession) throws(VaultError) -> RowTag? {
    guard let generation = Int64(exactly: session.record.generation) else { return nil }
    let (name, binding) = (Self.name(of: session.id), session.record.binding)
    let place = SealedPlace(
      table: "parked_session", row: name, binding: binding,
      numbers: [generation, session.since.milliseconds, session.mayBeSpent ? 1 : 0])
    var plaintext = SessionContentsCoding.encode(session.record.contents)
    defer { wipe(&plaintext) }
    let box = seal.seal(plaintext.span, at: place)
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        """
        REPLACE INTO parked_session
          (name, provider_type, issuer, client_id, generation, since, may_be_spent, format, sealed)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """)
      try statement.bind(name, at: 1)
      try statement.bind(binding.type, at: 2)
      try statement.bind(binding.issuer, at: 3)
      try statement.bind(binding.clientID, at: 4)
      try statement.bind(generation, at: 5)
      try statement.bind(session.since.milliseconds, at: 6)
      try statement.bind(session.mayBeSpent ? Int64(1) : 0, at: 7)
      try statement.bind(SealedPlace.currentFormat, at: 8)
      try statement.bind(box, at: 9)
      try statement.run()
    } catch { throw .storage(error) }
    return RowTag(ofBox: box.span)
  }

  /// Forgets a session.
  ///
  /// - Throws: `VaultError.storage`.
  func close(_ id: ParkedSession.ID) throws(VaultError) { try remove(Self.name(of: id)) }

  /// Removes the row of a name.
  ///
  /// - Throws: `VaultError.storage`.
  func remove(_ name: String) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare("DELETE FROM parked_session WHERE name = ?1")
      try statement.bind(name, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// Forgets every session of a profile, listed or not.
  ///
  /// - Throws: `VaultError.storage`.
  func closeAll(of profile: ProfileName) throws(VaultError) {
    try connection.removeRows("DELETE FROM parked_session WHERE name >= ?1 || '/' AND name < ?1 || '0'", of: profile)
  }
}
