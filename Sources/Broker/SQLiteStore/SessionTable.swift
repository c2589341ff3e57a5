import BrokerCore
import BrokerProtocol
import Records
import SQLite
import Sealing
import SecretMemory

/// One sealed record a profile.
struct SessionTable: SealedTable {
  static let kind = Manifest.Table.session
  static let selection: StaticString =
    "SELECT profile, provider_type, issuer, client_id, generation, format, sealed FROM session"
  static let columnCount: Int32 = 7
  static let resealing: StaticString = "UPDATE session SET sealed = ?2, key_id = ?3 WHERE profile = ?1"

  let connection: SQLiteConnection
  let seal: VaultSeal

  static func place(of row: borrowing Statement, named name: String) throws(SQLiteError) -> SealedPlace? {
    place(
      of: name,
      ProviderBinding(type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3)),
      generation: try row.int64(at: 4), format: try row.int64(at: 5))
  }

  private static func place(
    of name: String, _ binding: ProviderBinding, generation: Int64, format: Int64
  ) -> SealedPlace {
    SealedPlace(table: "session", row: name, format: format, binding: binding, numbers: [generation])
  }

  static func value(of row: borrowing Statement, _ opened: OpenedRow) throws -> SessionRecord? {
    guard let profile = ProfileName(opened.name), let generation = UInt64(exactly: try row.int64(at: 4)),
      let binding = opened.place.binding
    else { return nil }
    let sealed = SealedContents(box: try row.blob(at: columnCount - 1), opened)
    let contents = try SessionContentsCoding.decode(opened.plaintext, sealed)
    return SessionRecord(profile: profile, binding: binding, generation: generation, contents: contents)
  }

  /// Writes a record unless one that can be trusted, with the same or a newer generation, is there.
  ///
  /// A row that cannot be trusted protects nothing: it gives way to any record, lest a forged generation keep the
  /// profile from ever being saved again.
  func save(_ record: SessionRecord, replacing listed: RowTag?, at time: Int64) throws(VaultError) -> RowTag? {
    // A generation counts changes; one that does not fit can only be forged, and is never the newer one.
    guard let generation = Int64(exactly: record.generation) else { return nil }
    let name = record.profile.description
    let place = Self.place(of: name, record.binding, generation: generation, format: SealedPlace.currentFormat)
    var plaintext = SessionContentsCoding.encode(record.contents)
    defer { wipe(&plaintext) }
    let box = seal.seal(plaintext.span, at: place)
    let new = Row(record: record, generation: generation, box: box, time: time)
    if try !write(new, with: Self.writeIfNewer) {
      if let old = try row(named: name), old.value != nil, old.tag == listed { return nil }
      guard try write(new, with: Self.replace) else { return nil }
    }
    return RowTag(ofBox: box.span)
  }

  private struct Row {
    let record: SessionRecord
    let generation: Int64
    let box: [UInt8]
    let time: Int64
  }

  private static let writeIfNewer: StaticString = """
    INSERT INTO session (profile, provider_type, issuer, client_id, generation, format, key_id, sealed, saved_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT (profile) DO UPDATE SET
      provider_type = excluded.provider_type, issuer = excluded.issuer, client_id = excluded.client_id,
      generation = excluded.generation, format = excluded.format, key_id = excluded.key_id, sealed = excluded.sealed,
      saved_at = excluded.saved_at
    WHERE excluded.generation > session.generation
    """

  private static let replace: StaticString = """
    REPLACE INTO session (profile, provider_type, issuer, client_id, generation, format, key_id, sealed, saved_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    """

  private func write(_ row: Row, with sql: StaticString) throws(VaultError) -> Bool {
    do throws(SQLiteError) {
      let statement = try connection.prepare(sql)
      try statement.bind(row.record.profile.description, at: 1)
      try statement.bind(row.record.binding.type, at: 2)
      try statement.bind(row.record.binding.issuer, at: 3)
      try statement.bind(row.record.binding.clientID, at: 4)
      try statement.bind(row.generation, at: 5)
      try statement.bind(SealedPlace.currentFormat, at: 6)
      try statement.bind(seal.key.id.bytes, at: 7)
      try statement.bind(row.box, at: 8)
      try statement.bind(row.time, at: 9)
      try statement.run()
    } catch { throw .storage(error) }
    return connection.changedRowCount > 0
  }

  /// The record of a name, where its row is this one and can be trusted.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func record(_ name: String, _ tag: RowTag) throws(VaultError) -> SessionRecord? {
    try row(named: name).flatMap { $0.tag == tag ? $0.value : nil }
  }

  /// Removes the row of a name.
  ///
  /// - Throws: `VaultError.storage`.
  func remove(_ name: String) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare("DELETE FROM session WHERE profile = ?1")
      try statement.bind(name, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }

  private func row(named name: String) throws(VaultError) -> FoundRow<SessionRecord>? {
    do {
      let row = try connection.prepare(
        """
        SELECT profile, provider_type, issuer, client_id, generation, format, sealed FROM session WHERE profile = ?1
        """)
      try row.bind(name, at: 1)
      return try row.step() ? try self.row(row) : nil
    } catch { throw VaultError(whileReading: error) }
  }
}
