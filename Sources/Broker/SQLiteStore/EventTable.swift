import BrokerCore
import BrokerProtocol
import Records
import SQLite
import Sealing
import SecretMemory

/// The kept events, in two series that are each numbered without a gap.
struct EventTable {
  /// The sealed bytes after which a page ends: the loop renders it in a few milliseconds, during which no other client
  /// is answered, and the pages of forty slow clients fit into `maxBufferedBytes`.
  private static let pageBytes = 1 << 17

  /// The vault's database.
  let connection: SQLiteConnection
  /// Seals and opens the events.
  let seal: VaultSeal

  /// The extent of the table, known without opening its rows.
  struct Extent: Equatable {
    /// How many there are.
    var count: Int64
    /// The lowest ordinal; 0 where there is none.
    var first: Int64
    /// The highest ordinal; 0 where there is none.
    var last: Int64
  }

  private struct Row {
    let ordinal: Int64
    let sequence: Int64
    let time: Int64
    let format: Int64

    var place: SealedPlace {
      SealedPlace(table: "event", row: String(ordinal), format: format, numbers: [ordinal, sequence, time])
    }
  }

  /// Appends an event; an earlier row with the event's sequence in its clear columns can only be forged, and is
  /// replaced.
  ///
  /// - Returns: how many sealed bytes it has.
  /// - Throws: `VaultError.storage`.
  func append(_ event: BrokerEvent, as ordinal: Int64) throws(VaultError) -> Int {
    let row = Row(
      ordinal: ordinal, sequence: Int64(bitPattern: event.sequence), time: event.time.milliseconds,
      format: SealedPlace.currentFormat)
    let box = seal.seal(EventCoding.encode(event).span, at: row.place)
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        "REPLACE INTO event (ordinal, sequence, time, format, sealed) VALUES (?1, ?2, ?3, ?4, ?5)")
      try statement.bind(row.ordinal, at: 1)
      try statement.bind(row.sequence, at: 2)
      try statement.bind(row.time, at: 3)
      try statement.bind(row.format, at: 4)
      try statement.bind(box, at: 5)
      try statement.run()
    } catch { throw .storage(error) }
    return box.count
  }

  /// The cleartext columns of an event.
  struct Mark {
    /// Its sequence.
    var sequence: UInt64
    /// When it happened, in milliseconds since 1970-01-01T00:00:00Z.
    var time: Int64
    /// How many sealed bytes it has.
    var byteCount: Int
  }

  /// Sequence, time and length of one event, from its cleartext columns; nil where there is none.
  ///
  /// - Throws: `VaultError.storage`.
  func mark(of ordinal: Int64) throws(VaultError) -> Mark? {
    do throws(SQLiteError) {
      let statement = try connection.prepare("SELECT sequence, time, length(sealed) FROM event WHERE ordinal = ?1")
      try statement.bind(ordinal, at: 1)
      guard try statement.step() else { return nil }
      return Mark(
        sequence: UInt64(bitPattern: try statement.int64(at: 0)), time: try statement.int64(at: 1),
        byteCount: Int(clamping: try statement.int64(at: 2)))
    } catch { throw .storage(error) }
  }

  /// How many sealed bytes all events have.
  ///
  /// - Throws: `VaultError.storage`.
  func byteCount() throws(VaultError) -> Int {
    do throws(SQLiteError) {
      let statement = try connection.prepare("SELECT ifnull(sum(length(sealed)), 0) FROM event")
      return try statement.step() ? Int(clamping: try statement.int64(at: 0)) : 0
    } catch { throw .storage(error) }
  }

  /// Removes one event.
  ///
  /// - Throws: `VaultError.storage`.
  func remove(_ ordinal: Int64) throws(VaultError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare("DELETE FROM event WHERE ordinal = ?1")
      try statement.bind(ordinal, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// Removes all events.
  ///
  /// - Throws: `VaultError.storage`.
  func removeAll() throws(VaultError) {
    do throws(SQLiteError) { try connection.execute("DELETE FROM event") } catch { throw .storage(error) }
  }

  /// How many rows of a series there are, and their first and last ordinal.
  ///
  /// - Throws: `VaultError.storage`.
  func extent(of series: EventSeries) throws(VaultError) -> Extent {
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        """
        SELECT count(*), ifnull(min(ordinal), 0), ifnull(max(ordinal), 0) FROM event
        WHERE ordinal BETWEEN ?1 AND ?2
        """)
      try statement.bind(series.ordinals.lowerBound, at: 1)
      try statement.bind(series.ordinals.upperBound, at: 2)
      guard try statement.step() else { return Extent(count: 0, first: 0, last: 0) }
      return Extent(
        count: try statement.int64(at: 0), first: try statement.int64(at: 1), last: try statement.int64(at: 2))
    } catch { throw .storage(error) }
  }

  /// Events of a range of sequences in their order.
  struct Page {
    /// The events; those that this version does not know are left out.
    var events: [BrokerEvent] = []
    /// The sequence up to which the page goes.
    var through: UInt64
  }

  private static let range: StaticString = """
    SELECT ordinal, sequence, time, format, sealed FROM event WHERE sequence > ?1 AND sequence <= ?2
    ORDER BY sequence
    """

  /// The first events of a range of sequences.
  ///
  /// - Throws: `VaultError.damaged` where one is missing or not what was written, `.storage`, `.secretMemoryExhausted`.
  func page(after sequence: UInt64, through last: UInt64, limit: Int) throws(VaultError) -> Page {
    var page = Page(through: last)
    do {
      var previous = try ordinals(upTo: sequence)
      let rows = try connection.prepare(Self.range)
      try rows.bind(Int64(clamping: sequence), at: 1)
      try rows.bind(Int64(clamping: last), at: 2)
      var (count, byteCount) = (0, 0)
      while try rows.step() {
        let row = Row(
          ordinal: try rows.int64(at: 0), sequence: try rows.int64(at: 1), time: try rows.int64(at: 2),
          format: try rows.int64(at: 3))
        // A sequence that was changed may have taken its row out of the range.
        let series = EventSeries(ofOrdinal: row.ordinal)
        guard previous[series].map({ $0 &+ 1 == row.ordinal }) ?? true else { throw VaultError.damaged(part: "event") }
        previous[series] = row.ordinal
        let plaintext = try rows.withBlob(at: 4) { box in
          byteCount += box.count
          return try seal.openBytes(box, at: row.place)
        }
        count += 1
        if let event = try EventCoding.decode(plaintext) {
          guard event.sequence == UInt64(bitPattern: row.sequence) else { throw VaultError.damaged(part: "event") }
          page.events.append(event)
        }
        guard count < limit, byteCount < Self.pageBytes else {
          page.through = UInt64(bitPattern: row.sequence)
          break
        }
      }
    } catch let error as SQLiteError {
      throw error.code == .mismatch ? .damaged(part: "event") : .storage(error)
    } catch SealingError.secretMemoryExhausted {
      throw .secretMemoryExhausted
    } catch {
      throw .damaged(part: "event")
    }
    return page
  }

  /// Opens every event.
  ///
  /// - Throws: as ``page(after:through:limit:)``.
  func openAll() throws(VaultError) {
    var through: UInt64 = 0
    while through < .max { through = try page(after: through, through: .max, limit: EventRetention.count).through }
  }

  /// The ordinals of the last events of each series up to a sequence, behind which the next ones come without a gap.
  private func ordinals(upTo sequence: UInt64) throws -> [EventSeries: Int64] {
    var found: [EventSeries: Int64] = [:]
    guard sequence > 0 else { return found }
    for series in EventSeries.allCases {
      let row = try connection.prepare(
        """
        SELECT ordinal FROM event WHERE sequence <= ?1 AND ordinal BETWEEN ?2 AND ?3 ORDER BY sequence DESC LIMIT 1
        """)
      try row.bind(Int64(clamping: sequence), at: 1)
      try row.bind(series.ordinals.lowerBound, at: 2)
      try row.bind(series.ordinals.upperBound, at: 3)
      if try row.step() { found[series] = try row.int64(at: 0) }
    }
    return found
  }

  /// Seals every event under another key.
  ///
  /// - Returns: whether all of them could be opened; if not, none is worth anything, and the caller removes them.
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func reseal(with new: VaultSeal, from first: Int64, through last: Int64) throws(VaultError) -> Bool {
    var ordinal = first
    while ordinal <= last {
      guard try reseal(ordinal, with: new) else { return false }
      ordinal += 1
    }
    return true
  }

  private func reseal(_ ordinal: Int64, with new: VaultSeal) throws(VaultError) -> Bool {
    do {
      let box: [UInt8]
      do {
        let row = try connection.prepare("SELECT sequence, time, format, sealed FROM event WHERE ordinal = ?1")
        try row.bind(ordinal, at: 1)
        guard try row.step() else { return false }
        let place = Row(
          ordinal: ordinal, sequence: try row.int64(at: 0), time: try row.int64(at: 1), format: try row.int64(at: 2)
        ).place
        box = try row.withBlob(at: 3) { try seal.open($0, at: place).withBytes { new.seal($0, at: place) } }
      }
      let update = try connection.prepare("UPDATE event SET sealed = ?2 WHERE ordinal = ?1")
      try update.bind(ordinal, at: 1)
      try update.bind(box, at: 2)
      try update.run()
      return true
    } catch let error as SQLiteError {
      throw .storage(error)
    } catch SealingError.secretMemoryExhausted {
      throw .secretMemoryExhausted
    } catch {
      return false
    }
  }
}
