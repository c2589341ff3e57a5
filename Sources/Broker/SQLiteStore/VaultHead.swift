import BrokerCore
import Records

/// The facts about the vault as a whole after a change: sealed in one row that every change writes.
struct VaultHead: Sendable, Equatable {
  /// How many changes there were; a copy of the vault from before a change has fewer.
  var generation: UInt64 = 0
  /// The events that come often and are kept.
  var passing = OrdinalRange(.passing)
  /// The lasting events that are kept.
  var lasting = OrdinalRange(.lasting)
  /// The sequences after which every event can be replayed.
  var completeness = EventCompleteness()
  /// The last sequence that may have been given, at the time of the change: it never goes back.
  var sequenceFloor: UInt64 = 0
  /// When the change was made, in milliseconds since 1970-01-01T00:00:00Z.
  var changedAt: Int64 = 0
  /// Whether an anchor outside the database is kept.
  var hasAnchor = false
  /// The end of the audit.
  var audit = AuditEnd()
  /// The tag of each bucket of the manifest.
  var bucketTags = [RowTag](repeating: .none, count: Manifest.bucketCount)

  /// How many events are kept.
  var eventCount: Int64 { passing.count + lasting.count }

  /// The events of a series.
  subscript(series: EventSeries) -> OrdinalRange {
    get { series == .passing ? passing : lasting }
    set { if series == .passing { passing = newValue } else { lasting = newValue } }
  }

  /// The head as it is before sealing.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(138 + RowTag.byteCount * bucketTags.count)
    for number in [
      generation, UInt64(bitPattern: passing.first), UInt64(bitPattern: passing.last), completeness.all, sequenceFloor,
      UInt64(bitPattern: changedAt),
    ] { bytes.append(number: number) }
    bytes.append(hasAnchor ? 1 : 0)
    for tag in bucketTags { bytes.append(tag: tag) }
    // Since the fourth schema.
    for number in [UInt64(bitPattern: lasting.first), UInt64(bitPattern: lasting.last), completeness.lasting] {
      bytes.append(number: number)
    }
    // Since the sixth.
    for number in [audit.last, audit.lastGap, audit.pruned] { bytes.append(number: UInt64(bitPattern: number)) }
    bytes.append(audit.isClosed ? 1 : 0)
    bytes += audit.link.bytes
    return bytes
  }

  /// Reads a head; nil when it is not what was written.
  init?(decoding bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let generation = reader.number(), let first = reader.number(), let last = reader.number(),
      let complete = reader.number(), let floor = reader.number(), let time = reader.number(), let flag = reader.byte()
    else { return nil }
    guard flag <= 1,
      let passing = OrdinalRange(first: Int64(bitPattern: first), last: Int64(bitPattern: last), .passing)
    else { return nil }
    self.generation = generation
    self.passing = passing
    sequenceFloor = floor
    changedAt = Int64(bitPattern: time)
    hasAnchor = flag == 1
    for bucket in bucketTags.indices {
      guard let tag = reader.tag() else { return nil }
      bucketTags[bucket] = tag
    }
    completeness.all = complete
    guard !reader.isAtEnd else {
      // Of an earlier schema: up to here lasting events are among the others, and go with them.
      completeness.lasting = floor
      return
    }
    guard let first = reader.number(), let last = reader.number(), let complete = reader.number(),
      let lasting = OrdinalRange(first: Int64(bitPattern: first), last: Int64(bitPattern: last), .lasting)
    else { return nil }
    self.lasting = lasting
    completeness.lasting = complete
    guard !reader.isAtEnd else { return }
    guard let audit = AuditEnd(&reader), reader.isAtEnd else { return nil }
    self.audit = audit
  }

  /// The head of a vault that is about to be made.
  init() {}
}

extension AuditEnd {
  /// Reads the end of the audit; nil when it is not what was written.
  fileprivate init?(_ reader: inout ByteReader) {
    guard let last = reader.number(), let gap = reader.number(), let pruned = reader.number(), let flag = reader.byte(),
      flag <= 1
    else { return nil }
    var bytes: [UInt8] = []
    while bytes.count < AuditLink.byteCount, let byte = reader.byte() { bytes.append(byte) }
    guard bytes.count == AuditLink.byteCount else { return nil }
    (self.last, lastGap) = (Int64(bitPattern: last), Int64(bitPattern: gap))
    (self.pruned, isClosed, link) = (Int64(bitPattern: pruned), flag == 1, AuditLink(bytes: bytes))
    guard self.last >= 0, self.last < .max, lastGap >= 0, self.pruned >= 0 else { return nil }
  }
}
