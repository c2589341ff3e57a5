import BrokerProtocol
import SQLite
import Sealing

/// The provider's own decisions, in the order in which they were made.
///
/// Records are only ever added. Each has a keyed hash over itself and the one before, and the last one is noted under the
/// vault's key (`AuditHead`), so a record that is changed, added or removed without the keys is noticed, at the end as
/// well. A whole database that is put back in place of a later one is not.
struct AuditTable {
  /// Records that are read at a time, which keeps a thread busy for some ten milliseconds: less than a password does.
  static let pageCount = 1000

  private let connection: SQLiteConnection
  private let fingerprint: Fingerprint
  private let sealingKey: SealingKey

  /// The audit of a database, under its keys.
  init(_ connection: SQLiteConnection, _ fingerprint: Fingerprint, _ sealingKey: SealingKey) {
    self.connection = connection
    self.fingerprint = fingerprint
    self.sealingKey = sealingKey
  }

  /// Adds a record, as part of the caller's transaction or in one of its own.
  ///
  /// - Parameters:
  ///   - event: what was decided.
  ///   - account: about whom; nil where there is no such account.
  ///   - detail: more of it, without anything secret or personal.
  ///   - now: when.
  /// - Throws: `LocalStoreFault.keys`, `SQLiteError`, `SecretMemoryExhausted`.
  func append(_ event: AuditEvent, account: String?, detail: String? = nil, at now: Timestamp) throws {
    guard connection.isInTransaction else {
      return try connection.transaction { try append(event, account: account, detail: detail, at: now) }
    }
    let head = try AuditHead.read(connection, sealingKey)
    var record = AuditRecord(
      number: head.number + 1, at: now, event: event.rawValue, account: account, detail: detail, chain: [])
    record.chain = link(record, after: head.chain)
    try insert(record)
    try AuditHead(number: record.number, chain: record.chain).write(connection, sealingKey)
  }

  /// Begins to verify that the records are those that were written: none was changed, put in between, removed or cut off.
  ///
  /// - Throws: `LocalStoreFault.keys`, `SQLiteError`, `SecretMemoryExhausted`.
  func beginVerification() throws -> AuditVerification {
    let end = try AuditHead.read(connection, sealingKey)
    return AuditVerification(end: end, isIntact: try lastNumber() == end.number)
  }

  /// Verifies the next records, so many as are read at a time.
  ///
  /// - Throws: `SQLiteError`.
  func verifyMore(_ verification: AuditVerification) throws(SQLiteError) -> AuditVerification {
    var next = verification
    let page = try records(after: next.last.number).prefix { $0.number <= next.end.number }
    next.isIntact = !page.isEmpty
    for record in page {
      guard record.number == next.last.number + 1, record.chain == link(record, after: next.last.chain) else {
        next.isIntact = false
        return next
      }
      next.last = AuditHead(number: record.number, chain: record.chain)
    }
    if next.last.number == next.end.number { next.isIntact = next.last == next.end }
    return next
  }

  /// The number of the last record; 0 where there is none.
  ///
  /// - Throws: `SQLiteError`.
  func lastNumber() throws(SQLiteError) -> Int64 {
    let query = try connection.prepare("SELECT coalesce(max(number), 0) FROM audit")
    return try query.step() ? try query.int64(at: 0) : 0
  }

  /// Records after a number, in their order.
  ///
  /// - Parameters:
  ///   - number: 0 for the first ones.
  ///   - limit: how many at most.
  /// - Returns: the records; none after the last one.
  /// - Throws: `SQLiteError`.
  func records(after number: Int64, limit: Int = Self.pageCount) throws(SQLiteError) -> [AuditRecord] {
    let query = try connection.prepare(
      """
      SELECT number, at, event, account, detail, chain FROM audit WHERE number > ?1 ORDER BY number LIMIT ?2
      """)
    try query.bind(number, at: 1)
    try query.bind(Int64(limit), at: 2)
    var records: [AuditRecord] = []
    while try query.step() {
      records.append(
        AuditRecord(
          number: try query.int64(at: 0), at: Timestamp(milliseconds: try query.int64(at: 1)),
          event: try query.text(at: 2), account: query.isNull(at: 3) ? nil : try query.text(at: 3),
          detail: query.isNull(at: 4) ? nil : try query.text(at: 4), chain: try query.blob(at: 5)))
    }
    return records
  }

  /// Chains the records that are there under new keys, as part of the caller's transaction.
  ///
  /// What was done to them before is not told any more, but for a gap in their numbers.
  ///
  /// - Throws: `SQLiteError`.
  func chainAgain() throws(SQLiteError) {
    var last = AuditHead.start
    while case let page = try records(after: last.number), !page.isEmpty {
      for record in page {
        last = AuditHead(number: record.number, chain: link(record, after: last.chain))
        let update = try connection.prepare("UPDATE audit SET chain = ?2 WHERE number = ?1")
        try update.bind(last.number, at: 1)
        try update.bind(last.chain, at: 2)
        try update.run()
      }
    }
    try last.write(connection, sealingKey)
  }

  private func link(_ record: AuditRecord, after previous: [UInt8]) -> [UInt8] {
    let texts: [String?] = [
      String(record.number), String(record.at.milliseconds), record.event, record.account, record.detail,
    ]
    return fingerprint.of([previous] + texts.map { text in text.map { Array($0.utf8) } }, .audit)
  }

  private func insert(_ record: AuditRecord) throws(SQLiteError) {
    let insert = try connection.prepare(
      "INSERT INTO audit (number, at, event, account, detail, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
    try insert.bind(record.number, at: 1)
    try insert.bind(record.at.milliseconds, at: 2)
    try insert.bind(record.event, at: 3)
    if let account = record.account { try insert.bind(account, at: 4) }
    if let detail = record.detail { try insert.bind(detail, at: 5) }
    try insert.bind(record.chain, at: 6)
    try insert.run()
  }
}
