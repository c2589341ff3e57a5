/// What is true of the vault as a whole after a change: sealed in one row that every change writes.
struct VaultHead: Sendable, Equatable {
  /// How many changes there were; a copy of the vault from before a change has fewer.
  var generation: UInt64 = 0
  /// The ordinal of the oldest event that is kept.
  var firstOrdinal: Int64 = 1
  /// The ordinal of the newest event; one less than the first where none is kept.
  var lastOrdinal: Int64 = 0
  /// The sequence after which every kept event can be replayed.
  var eventsCompleteAfter: UInt64 = 0
  /// The last sequence that may have been given, at the time of the change: it never goes back.
  var sequenceFloor: UInt64 = 0
  /// When the change was made, in milliseconds since 1970-01-01T00:00:00Z.
  var changedAt: Int64 = 0
  /// Whether an anchor outside the database is kept.
  var hasAnchor = false
  /// The tag of each bucket of the manifest.
  var bucketTags = [RowTag](repeating: .none, count: Manifest.bucketCount)

  /// How many events are kept.
  var eventCount: Int64 { lastOrdinal - firstOrdinal + 1 }

  /// The head as it is before sealing.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(57 + RowTag.byteCount * bucketTags.count)
    for number in [
      generation, UInt64(bitPattern: firstOrdinal), UInt64(bitPattern: lastOrdinal), eventsCompleteAfter, sequenceFloor,
      UInt64(bitPattern: changedAt),
    ] { bytes.append(number: number) }
    bytes.append(hasAnchor ? 1 : 0)
    for tag in bucketTags { bytes.append(tag: tag) }
    return bytes
  }

  /// Reads a head; nil when it is not what was written.
  init?(decoding bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let generation = reader.number(), let first = reader.number(), let last = reader.number(),
      let complete = reader.number(), let floor = reader.number(), let time = reader.number(), let flag = reader.byte()
    else { return nil }
    self.generation = generation
    firstOrdinal = Int64(bitPattern: first)
    lastOrdinal = Int64(bitPattern: last)
    eventsCompleteAfter = complete
    sequenceFloor = floor
    changedAt = Int64(bitPattern: time)
    hasAnchor = flag == 1
    for bucket in bucketTags.indices {
      guard let tag = reader.tag() else { return nil }
      bucketTags[bucket] = tag
    }
    guard reader.isAtEnd, flag <= 1, firstOrdinal >= 1, lastOrdinal >= firstOrdinal - 1 else { return nil }
  }

  /// The head of a vault that is about to be made.
  init() {}
}
