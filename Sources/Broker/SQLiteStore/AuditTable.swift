import BrokerProtocol
import Records
import SQLite
import Sealing
import SecretMemory

/// The end of the audit, as the sealed head of the vault has it.
struct AuditEnd: Sendable, Equatable {
  /// The number of the last entry; 0 where there never was one.
  var last: Int64 = 0
  /// The link of the last entry.
  var link = AuditLink.start
  /// The number of the last entry that tells of a gap; 0 where there is none.
  var lastGap: Int64 = 0
  /// The last entry that was pruned: those before the first that is kept are not missing.
  var pruned: Int64 = 0
  /// Whether the last entry is one that ends the audit in order.
  var isClosed = true
}

/// The entries of the audit, numbered without a gap, and the checkpoint behind which they begin.
///
/// Numbers and times stand in the clear, and are bound by each seal.
struct AuditTable {
  /// How many entries are looked at in one part of the work: some ten milliseconds on a slow machine.
  static let pageCount = 1000

  /// The vault's database.
  let connection: SQLiteConnection
  /// Seals and opens the entries.
  let seal: VaultSeal

  private struct Row {
    let number: Int64
    let time: Int64
    let format: Int64

    var place: SealedPlace {
      SealedPlace(table: "audit", row: String(number), format: format, numbers: [number, time])
    }
  }

  /// One row as it was found.
  struct Found {
    /// Its number.
    var number: Int64
    /// Its link and its text; nil where it is not what was sealed for this place.
    var contents: (link: AuditLink, text: [UInt8])?
  }

  /// Writes an entry under its number; what stands there was never acknowledged, and is replaced.
  ///
  /// - Returns: the link of the entry.
  /// - Throws: `VaultError.storage`.
  func append(_ entry: AuditEntry, after link: AuditLink, _ chain: AuditChain) throws(VaultError) -> AuditLink {
    let row = Row(number: Int64(entry.number), time: entry.time.milliseconds, format: SealedPlace.currentFormat)
    let (bytes, link) = AuditCoding.encode(entry, after: link, chain)
    let box = seal.seal(bytes.span, at: row.place)
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        "REPLACE INTO audit (number, time, format, sealed) VALUES (?1, ?2, ?3, ?4)")
      try statement.bind(row.number, at: 1)
      try statement.bind(row.time, at: 2)
      try statement.bind(row.format, at: 3)
      try statement.bind(box, at: 4)
      try statement.run()
    } catch { throw .storage(error) }
    return link
  }

  /// The lowest and the highest number; nil where there is no row.
  ///
  /// - Throws: `VaultError.storage`.
  func extent() throws(VaultError) -> (first: Int64, last: Int64)? {
    do throws(SQLiteError) {
      let row = try connection.prepare("SELECT (SELECT min(number) FROM audit), (SELECT max(number) FROM audit)")
      guard try row.step(), !row.isNull(at: 0), !row.isNull(at: 1) else { return nil }
      return (try row.int64(at: 0), try row.int64(at: 1))
    } catch { throw .storage(error) }
  }

  /// Hands the rows behind a number to a closure, in order, ``pageCount`` at most.
  ///
  /// - Parameters:
  ///   - number: where the page begins.
  ///   - time: the time of the entries in the clear from which on they are wanted.
  ///   - body: returns whether the next row is wanted.
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func forEachRow(
    after number: Int64, since time: Int64 = .min, _ body: (Found) -> Bool
  ) throws(VaultError) {
    do {
      let rows = try connection.prepare(
        "SELECT number, time, format, sealed FROM audit WHERE number > ?1 AND time >= ?2 ORDER BY number LIMIT 1000")
      try rows.bind(number, at: 1)
      try rows.bind(time, at: 2)
      while try rows.step() {
        let row = Row(number: try rows.int64(at: 0), time: try rows.int64(at: 1), format: try rows.int64(at: 2))
        guard body(Found(number: row.number, contents: try contents(of: rows, row))) else { return }
      }
    } catch { throw VaultError(whileReading: error) }
  }

  private func contents(
    of rows: borrowing Statement, _ row: Row
  ) throws(VaultError) -> (link: AuditLink, text: [UInt8])? {
    do {
      let bytes = try rows.withBlob(at: 3) { try seal.openBytes($0, at: row.place) }
      return AuditCoding.split(bytes)
    } catch SealingError.secretMemoryExhausted {
      throw .secretMemoryExhausted
    } catch let error as SQLiteError where error.code != .mismatch {
      throw .storage(error)
    } catch {
      return nil
    }
  }

  // MARK: Pruning

  /// The last entry of those that are to go: more than so many are kept, or they are older than a time.
  ///
  /// Age is asked of rows that are there, one after the other: what was removed by others is never taken for pruned.
  ///
  /// - Throws: `VaultError.storage`.
  func lastToPrune(_ end: AuditEnd, keeping count: Int64, since time: Int64) throws(VaultError) -> Int64 {
    var byAge = end.pruned
    do throws(SQLiteError) {
      let rows = try connection.prepare("SELECT number, time FROM audit WHERE number > ?1 ORDER BY number LIMIT 1000")
      try rows.bind(end.pruned, at: 1)
      while try rows.step(), try rows.int64(at: 0) == byAge + 1, try rows.int64(at: 1) < time { byAge += 1 }
    } catch { throw .storage(error) }
    // In parts, so that no write takes long; the next ones go on.
    return min(max(end.last - count, byAge), end.pruned + Int64(Self.pageCount), end.last - 1)
  }

  /// Removes the entries up to one, and keeps its link: the chain begins behind it from now on.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func prune(through number: Int64) throws(VaultError) {
    var link: AuditLink?
    try forEachRow(after: number - 1) { row in
      if row.number == number { link = row.contents?.link }
      return false
    }
    // One that does not open leaves a checkpoint that is told of as what it is.
    try writeCheckpoint(number, link ?? .start)
    do throws(SQLiteError) {
      let statement = try connection.prepare("DELETE FROM audit WHERE number <= ?1")
      try statement.bind(number, at: 1)
      try statement.run()
    } catch { throw .storage(error) }
  }

  private func writeCheckpoint(_ number: Int64, _ link: AuditLink) throws(VaultError) {
    let box = seal.seal(link.bytes.span, at: Self.checkpointPlace(number))
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        "REPLACE INTO audit_checkpoint (only, number, sealed) VALUES (1, ?1, ?2)")
      try statement.bind(number, at: 1)
      try statement.bind(box, at: 2)
      try statement.run()
    } catch { throw .storage(error) }
  }

  /// The entry behind which the kept ones begin, and its link, which is nil where the checkpoint is not what was written.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func checkpoint() throws(VaultError) -> (number: Int64, link: AuditLink?) {
    do {
      let row = try connection.prepare("SELECT number, sealed FROM audit_checkpoint")
      guard try row.step() else { return (0, .start) }
      let number = try row.int64(at: 0)
      do {
        let bytes = try row.withBlob(at: 1) { try seal.openBytes($0, at: Self.checkpointPlace(number)) }
        return (number, bytes.count == AuditLink.byteCount ? AuditLink(bytes: bytes) : nil)
      } catch let error as SealingError where error != .secretMemoryExhausted {
        return (number, nil)
      }
    } catch { throw VaultError(whileReading: error) }
  }

  private static func checkpointPlace(_ number: Int64) -> SealedPlace {
    SealedPlace(table: "audit_checkpoint", row: "1", numbers: [number])
  }

  /// Takes the entries for what they are where the head of the vault knows fewer, as one that was lost or replaced does:
  /// they are never written over.
  ///
  /// One that does not open is worth no number but the next.
  ///
  /// - Returns: whether they are not those that the head says.
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func adopt(_ end: inout AuditEnd) throws(VaultError) -> Bool {
    let (extent, point) = (try extent(), try checkpoint())
    guard let extent else { return end.last > end.pruned || point.number != end.pruned }
    let isSuspect = extent.last != end.last || extent.first != end.pruned + 1 || point.number != end.pruned
    // Its number is worth no more than its seal.
    if point.link != nil { end.pruned = max(end.pruned, point.number) }
    guard let newest = try newest(after: end.last) else { return isSuspect }
    (end.last, end.link, end.isClosed) = (newest.number, newest.link, false)
    return true
  }

  /// The last entry behind a number: one that opens, or follows directly on the one before it.
  private func newest(after number: Int64) throws(VaultError) -> (number: Int64, link: AuditLink)? {
    var newest: (number: Int64, link: AuditLink)?
    var (last, count) = (number, Self.pageCount)
    while count == Self.pageCount {
      count = 0
      try forEachRow(after: last) { row in
        (last, count) = (row.number, count + 1)
        if row.contents != nil || row.number == (newest?.number ?? number) + 1 {
          newest = (row.number, row.contents?.link ?? .start)
        }
        return true
      }
    }
    return newest
  }

  // MARK: Keys

  /// Seals every entry that opens, and the checkpoint, under another key.
  ///
  /// The chain stays as it is. An entry that does not open stays too, and opens no more.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func reseal(with new: VaultSeal) throws(VaultError) {
    let point = try checkpoint()
    if point.number > 0, let link = point.link {
      try AuditTable(connection: connection, seal: new).writeCheckpoint(point.number, link)
    }
    var last = Int64.min
    while let number = try number(after: last) {
      try reseal(number, with: new)
      last = number
    }
  }

  /// The number of the row behind one; nil where there is none.
  private func number(after number: Int64) throws(VaultError) -> Int64? {
    do throws(SQLiteError) {
      let row = try connection.prepare("SELECT min(number) FROM audit WHERE number > ?1")
      try row.bind(number, at: 1)
      guard try row.step(), !row.isNull(at: 0) else { return nil }
      return try row.int64(at: 0)
    } catch { throw .storage(error) }
  }

  private func reseal(_ number: Int64, with new: VaultSeal) throws(VaultError) {
    do {
      let box: [UInt8]
      do {
        let row = try connection.prepare("SELECT time, format, sealed FROM audit WHERE number = ?1")
        try row.bind(number, at: 1)
        guard try row.step() else { return }
        let place = Row(number: number, time: try row.int64(at: 0), format: try row.int64(at: 1)).place
        box = try row.withBlob(at: 2) { box in try seal.open(box, at: place).withBytes { new.seal($0, at: place) } }
      } catch let error as SealingError where error != .secretMemoryExhausted {
        return
      }
      let update = try connection.prepare("UPDATE audit SET sealed = ?2 WHERE number = ?1")
      try update.bind(number, at: 1)
      try update.bind(box, at: 2)
      try update.run()
    } catch { throw VaultError(whileReading: error) }
  }
}
