import BrokerCore
import BrokerProtocol
import SQLite
import Sealing
import SecretMemory

/// One sealed record a profile.
struct SessionTable {
  /// The vault's database; open as long as the vault is.
  let connection: SQLiteConnection
  /// Seals and opens what the rows hold.
  let key: SealingKey

  /// What was found in one row.
  enum Entry {
    /// What was saved under the row's name.
    case record(SessionRecord)
    /// The name of a row whose contents do not open, or are not what belongs there.
    case tampered(ProfileName)
    /// Not even the name can be read.
    case nameless
  }

  /// All rows in the order of their names; one that does not open keeps none of the others from doing so.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func entries() throws(VaultError) -> [Entry] {
    try reading {
      var entries: [Entry] = []
      let rows = try connection.prepare(
        "SELECT profile, provider_type, issuer, client_id, generation, format, sealed FROM session ORDER BY profile")
      while try rows.step() { entries.append(try Self.entry(in: rows, key: key)) }
      return entries
    }
  }

  /// Writes a record unless one that opens, with the same or a newer generation, is there.
  ///
  /// A row that does not open protects nothing: it gives way to any record, lest a forged generation keep the profile
  /// from ever being saved again.
  ///
  /// - Returns: whether it was written.
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func save(_ record: SessionRecord, at time: Int64) throws(VaultError) -> Bool {
    // A generation counts changes; one that does not fit can only be forged, and is never the newer one.
    guard let generation = Int64(exactly: record.generation) else { return false }
    let place = SealedPlace.session(
      record.profile, record.binding, generation: generation, format: SealedPlace.currentFormat, key: key.id)
    var plaintext = SessionContentsCoding.encode(record.contents)
    defer { wipe(&plaintext) }
    let box = SealedBox.seal(plaintext.span, context: place, key: key)
    let row = Row(record: record, generation: generation, box: box, time: time)
    if try write(row, with: Self.writeIfNewer) { return true }
    if case .record = try entry(for: record.profile) { return false }
    return try write(row, with: Self.replace)
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
      try statement.bind(key.id.bytes, at: 7)
      try statement.bind(row.box, at: 8)
      try statement.bind(row.time, at: 9)
      try statement.run()
    } catch { throw .storage(error) }
    return connection.changedRowCount > 0
  }

  private func entry(for profile: ProfileName) throws(VaultError) -> Entry? {
    try reading {
      let row = try connection.prepare(
        """
        SELECT profile, provider_type, issuer, client_id, generation, format, sealed FROM session WHERE profile = ?1
        """)
      try row.bind(profile.description, at: 1)
      return try row.step() ? try Self.entry(in: row, key: key) : nil
    }
  }

  private func reading<R>(_ body: () throws -> R) throws(VaultError) -> R {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw .storage(error)
    } catch let error as VaultError {
      throw error
    } catch {
      preconditionFailure("rows are read with these two errors only")
    }
  }

  private static func entry(in row: borrowing Statement, key: SealingKey) throws(VaultError) -> Entry {
    guard let text = try? row.text(at: 0), let profile = ProfileName(text) else { return .nameless }
    do {
      let binding = ProviderBinding(
        type: try row.text(at: 1), issuer: try row.text(at: 2), clientID: try row.text(at: 3))
      let (generation, format) = (try row.int64(at: 4), try row.int64(at: 5))
      guard generation >= 0 else { return .tampered(profile) }
      let place = SealedPlace.session(profile, binding, generation: generation, format: format, key: key.id)
      let plaintext = try row.withBlob(at: 6) { try SealedBox.open($0, context: place, key: key) }
      let contents = try SessionContentsCoding.decode(plaintext)
      return .record(
        SessionRecord(profile: profile, binding: binding, generation: UInt64(generation), contents: contents))
    } catch SealingError.secretMemoryExhausted {
      throw .secretMemoryExhausted
    } catch {
      return .tampered(profile)
    }
  }
}
