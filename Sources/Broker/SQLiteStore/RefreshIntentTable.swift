import BrokerCore
import BrokerProtocol
import Records
import SQLite
import SecretMemory

/// The refreshes that were about to be sent: nothing secret, but sealed so that none is added, changed or removed.
struct RefreshIntentTable: SealedTable {
  static let kind = Manifest.Table.refreshIntent
  static let selection: StaticString = "SELECT profile, generation, started_at, format, sealed FROM refresh_intent"
  static let columnCount: Int32 = 5
  static let resealing: StaticString = "UPDATE refresh_intent SET sealed = ?2 WHERE profile = ?1"

  let connection: SQLiteConnection
  let seal: VaultSeal

  static func place(of row: borrowing Statement, named name: String) throws(SQLiteError) -> SealedPlace? {
    SealedPlace(
      table: "refresh_intent", row: name, format: try row.int64(at: 3),
      numbers: [try row.int64(at: 1), try row.int64(at: 2)])
  }

  static func value(of row: borrowing Statement, _ opened: OpenedRow) throws -> RefreshIntent? {
    guard let profile = ProfileName(opened.name), let generation = UInt64(exactly: try row.int64(at: 1)) else {
      return nil
    }
    let time = Timestamp(milliseconds: try row.int64(at: 2))
    return RefreshIntent(profile: profile, generation: generation, startedAt: time)
  }

  /// Notes an intent in place of an earlier one.
  ///
  /// - Returns: the tag of its row; nil for a generation that no record can have.
  /// - Throws: `VaultError.storage`.
  func open(_ intent: RefreshIntent) throws(VaultError) -> RowTag? {
    guard let generation = Int64(exactly: intent.generation) else { return nil }
    let name = intent.profile.description
    let place = SealedPlace(
      table: "refresh_intent", row: name, numbers: [generation, intent.startedAt.milliseconds])
    let box = seal.seal(Span(), at: place)
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        "REPLACE INTO refresh_intent (profile, generation, started_at, format, sealed) VALUES (?1, ?2, ?3, ?4, ?5)")
      try statement.bind(name, at: 1)
      try statement.bind(generation, at: 2)
      try statement.bind(intent.startedAt.milliseconds, at: 3)
      try statement.bind(SealedPlace.currentFormat, at: 4)
      try statement.bind(box, at: 5)
      try statement.run()
    } catch { throw .storage(error) }
    return RowTag(ofBox: box.span)
  }

  /// Forgets the intent of a profile.
  ///
  /// - Throws: `VaultError.storage`.
  func close(_ profile: ProfileName) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare("DELETE FROM refresh_intent WHERE profile = ?1")
      try statement.bind(profile.description, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }
}
