import BrokerProtocol
import Sealing

/// The list of the vault's rows, with the tags of their boxes: a row that was removed, put back or exchanged for an
/// older copy is noticed.
///
/// All rows of one name share a bucket, so a change of one profile re-encrypts one bucket. Kept in memory, where it
/// holds names and tags only, so that a change reads nothing.
struct Manifest: Sendable {
  /// The tables whose rows are listed; the numbers are part of the format.
  enum Table: UInt8, Sendable, CaseIterable {
    /// Sessions.
    case session = 1
    /// Refreshes under way.
    case refreshIntent = 2
    /// Logins under way.
    case pendingLogin = 3
    /// Values of the vault itself.
    case metadata = 4
    /// Tokens that are still to be revoked.
    case revocation = 5
    /// Sessions that changes of the configuration have signed out.
    case parkedSession = 6
    /// Requests that clients have queued.
    case queuedRequest = 7
  }

  /// A row's place.
  struct Row: Hashable, Sendable {
    /// Its table.
    let table: Table
    /// Its name: a profile, or a profile and a number, or the name of a value of the vault.
    let name: String

    /// The profile that the row is of; nil where it is of none.
    var profile: ProfileName? {
      switch table {
      case .session, .refreshIntent, .pendingLogin: ProfileName(name)
      case .revocation, .parkedSession, .queuedRequest: ProfileName(String(name.prefix { $0 != "/" }))
      case .metadata: nil
      }
    }
  }

  /// How many buckets there are: a bucket of ten thousand profiles is then smaller than two pages.
  static let bucketCount = 64

  /// The usual bytes of a row in its bucket: the table, the length, a name of some letters, the tag.
  ///
  /// It only sizes a reservation.
  private static let usualRowBytes = 22

  /// The rows of each bucket.
  private(set) var buckets = [[Row: RowTag]](repeating: [:], count: bucketCount)
  /// The buckets that were changed since they were written.
  private(set) var changedBuckets: Set<Int> = []

  /// The bucket that rows of a name are in.
  static func bucket(ofRowsNamed name: String) -> Int {
    let name = name.utf8
    return Int(KeyedHash.unkeyedDigest(of: name.span, count: 16)[0]) % bucketCount
  }

  /// The tag that a row must have; nil for a row that must not be there.
  subscript(table: Table, name: String) -> RowTag? {
    get { buckets[Self.bucket(ofRowsNamed: name)][Row(table: table, name: name)] }
    set {
      let (bucket, row) = (Self.bucket(ofRowsNamed: name), Row(table: table, name: name))
      guard buckets[bucket][row] != newValue else { return }
      buckets[bucket][row] = newValue
      changedBuckets.insert(bucket)
    }
  }

  /// All rows that are listed, for a comparison: one look for each finds it, without its bucket.
  var rows: [Row: RowTag] {
    var rows = [Row: RowTag](minimumCapacity: buckets.reduce(0) { $0 + $1.count })
    // A name has one bucket, so no row is in two of them.
    for bucket in buckets { rows.merge(bucket) { tag, _ in tag } }
    return rows
  }

  /// Lists no row of a table any more that is of a profile.
  mutating func removeAll(in table: Table, of profile: ProfileName) {
    for row in buckets.flatMap(\.keys) where row.table == table && row.profile == profile {
      self[table, row.name] = nil
    }
  }

  /// Takes over a bucket as it was read.
  mutating func take(_ rows: [Row: RowTag], asBucket bucket: Int) {
    buckets[bucket] = rows
  }

  /// Notes that a bucket cannot be trusted: it is written again with the next change.
  mutating func distrust(bucket: Int) {
    changedBuckets.insert(bucket)
  }

  /// Notes that every bucket has to be written, such as under another key.
  mutating func distrustAll() {
    changedBuckets.formUnion(0..<Self.bucketCount)
  }

  /// Notes that all is written.
  mutating func markWritten() {
    changedBuckets = []
  }

  /// A bucket as it is before sealing.
  func encoded(bucket: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // Most names are short; a longer one costs a second allocation.
    bytes.reserveCapacity(buckets[bucket].count * 40)
    for (row, tag) in buckets[bucket] {
      bytes.append(row.table.rawValue)
      bytes.append(UInt8(clamping: row.name.utf8.count))
      bytes.append(contentsOf: row.name.utf8.prefix(Int(UInt8.max)))
      bytes.append(tag: tag)
    }
    return bytes
  }

  /// The rows of a bucket; nil when it is not what was written.
  static func decode(_ bytes: [UInt8], bucket: Int) -> [Row: RowTag]? {
    var rows = [Row: RowTag](minimumCapacity: bytes.count / usualRowBytes)
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      guard let table = reader.byte().flatMap(Table.init(rawValue:)), let name = reader.text(), let tag = reader.tag(),
        Self.bucket(ofRowsNamed: name) == bucket, rows.updateValue(tag, forKey: Row(table: table, name: name)) == nil
      else { return nil }
    }
    return rows
  }
}
