import BrokerCore
import BrokerProtocol
import Records
import SQLite
import Sealing
import SecretMemory

/// Reads a vault whose data key is there, and judges what it finds.
struct VaultReader {
  /// The vault's database.
  let connection: SQLiteConnection
  /// Opens what is there.
  let seal: VaultSeal

  /// How far the sequence that stands in the clear may be above the sealed one: more than any broker gives while its
  /// vault is locked.
  static let sequenceRoom: UInt64 = 1 << 40
  /// How far sequences jump when the one in the clear cannot be believed; small enough for JSON's numbers, however often.
  static let sequenceJump: UInt64 = 1 << 20
  /// The highest sequence that is believed without a seal: more than any broker ever gives, and JSON's numbers go on for
  /// as many again.
  static let highestUnsealedSequence: UInt64 = 1 << 52

  /// Reads the head and the manifest.
  ///
  /// Where the head or a part of the manifest is lost, nothing vouches for the rows that it listed: each of them may be
  /// an older copy, so none is accepted. The vault's own values are, which never change. The lists are written again with
  /// the next change.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func start() throws(VaultError) -> (manifest: Manifest, head: VaultHead, suspicions: Set<VaultSuspicion>) {
    let table = HeadTable(connection: connection)
    var suspicions: Set<VaultSuspicion> = []
    var manifest = Manifest()
    guard let head = try table.head(seal) else {
      manifest.distrustAll()
      try relistMetadata(in: &manifest)
      return (manifest, VaultHead(), [.head, .events])
    }
    for bucket in 0..<Manifest.bucketCount {
      if let rows = try table.bucket(bucket, tag: head.bucketTags[bucket], seal) {
        manifest.take(rows, asBucket: bucket)
      } else {
        manifest.distrust(bucket: bucket)
        suspicions.insert(.manifest)
      }
    }
    if suspicions.contains(.manifest) { try relistMetadata(in: &manifest) }
    for series in EventSeries.allCases {
      let (extent, range) = (try EventTable(connection: connection, seal: seal).extent(of: series), head[series])
      let isWhole = extent.count == range.count
      if !isWhole || extent.count > 0 && (extent.first != range.first || extent.last != range.last) {
        suspicions.insert(.events)
      }
    }
    return (manifest, head, suspicions)
  }

  /// Lists the vault's own values that open by themselves in those buckets that were lost.
  private func relistMetadata(in manifest: inout Manifest) throws(VaultError) {
    let lost = manifest.changedBuckets
    for row in try MetadataTable(connection: connection, seal: seal).rows() {
      guard let name = row.name, row.value != nil, lost.contains(Manifest.bucket(ofRowsNamed: name)) else { continue }
      manifest[.metadata, name] = row.tag
    }
  }

  /// The key of token names; nil where it is missing or not what was written.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func fingerprintKey(_ manifest: Manifest) throws(VaultError) -> Secret? {
    let name = MetadataTable.Name.fingerprintKey.rawValue
    for row in try MetadataTable(connection: connection, seal: seal).rows() where row.name == name {
      guard row.tag == manifest[.metadata, name], let key = row.value,
        key.byteCount == TokenFingerprint.keyByteCount
      else { return nil }
      return key
    }
    return nil
  }

  /// Everything that rests in the vault, but rows with such a tag: they have ended.
  ///
  /// - Returns: the contents, and whether there are rows of no profile.
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  func contents(
    _ manifest: Manifest, without ended: Set<RowTag> = []
  ) throws(VaultError) -> (contents: StoreContents, tampered: Set<ProfileName>, hasForeignRows: Bool) {
    var judge = RowJudge(manifest: manifest, ended: ended)
    var contents = StoreContents(records: [], lastSequence: 0)
    let (connection, seal) = (connection, seal)
    contents.records = try judge.accept(SessionTable(connection: connection, seal: seal))
    contents.intents = try judge.accept(RefreshIntentTable(connection: connection, seal: seal))
    contents.pendingLogins = try judge.accept(PendingLoginTable(connection: connection, seal: seal))
    contents.revocations = try judge.accept(RevocationTable(connection: connection, seal: seal))
      .sorted { ($0.id.profile, $0.id.number) < ($1.id.profile, $1.id.number) }
    contents.parked = try judge.accept(ParkedSessionTable(connection: connection, seal: seal))
    contents.requests = try judge.accept(QueuedRequestTable(connection: connection, seal: seal))
    _ = try judge.accept(MetadataTable(connection: connection, seal: seal))
    judge.missMissingRows()
    let tampered = judge.tampered
    if !tampered.isEmpty {
      contents.records.removeAll { tampered.contains($0.profile) }
      contents.intents.removeAll { tampered.contains($0.profile) }
      contents.revocations.removeAll { tampered.contains($0.id.profile) }
      contents.requests.removeAll { tampered.contains($0.id.profile) }
      contents.parked.removeAll { tampered.contains($0.id.profile) }
      contents.pendingLogins.removeAll { tampered.contains($0.login.profile) }
    }
    contents.tampered = tampered.sorted()
    return (contents, tampered, judge.hasForeignRows)
  }
}

/// Compares rows with the manifest.
private struct RowJudge {
  /// The rows that are listed; the tag of one that was found is `RowTag.none`.
  private var missing: [Manifest.Row: RowTag]
  /// The tags of rows that are as if they were not there.
  private let ended: Set<RowTag>
  var tampered: Set<ProfileName> = []
  var hasForeignRows = false

  init(manifest: Manifest, ended: Set<RowTag>) {
    missing = manifest.rows
    self.ended = ended
  }

  /// Reads the rows of a table that the manifest lists, in the order of their names.
  mutating func accept<Table: SealedTable>(_ table: Table) throws(VaultError) -> [Table.Value] {
    var values: [Table.Value] = []
    var names: [String] = []
    let count = missing.keys.count { $0.table == Table.kind }
    values.reserveCapacity(count)
    names.reserveCapacity(count)
    try table.forEachRow { (row: consuming FoundRow<Table.Value>) in
      if let name = row.name, let tag = row.tag, tag == strike(Manifest.Row(table: Table.kind, name: name)),
        let value = row.value.take()
      {
        guard !ended.contains(tag) else { return }
        values.append(value)
        names.append(name)
      } else {
        blame(row.name.map { Manifest.Row(table: Table.kind, name: $0) })
      }
    }
    // Numbers are moved while sorting, and each value once.
    let order = names.indices.sorted { names[$0].utf8.lexicographicallyPrecedes(names[$1].utf8) }
    values.arrange(in: order)
    return values
  }

  /// Takes a row off the list.
  ///
  /// - Returns: the tag that the row must have; nil for a row that must not be there.
  private mutating func strike(_ row: Manifest.Row) -> RowTag? {
    guard let place = missing.index(forKey: row) else { return nil }
    let tag = missing.values[place]
    // To remove it would move others that lie behind it.
    missing.values[place] = .none
    return tag == .none ? nil : tag
  }

  /// Blames the profiles of rows that are listed and were not found.
  mutating func missMissingRows() {
    for (row, tag) in missing where tag != .none { blame(row) }
  }

  private mutating func blame(_ row: Manifest.Row?) {
    guard let profile = row?.profile else {
      hasForeignRows = true
      return
    }
    tampered.insert(profile)
  }
}

extension Array {
  /// Moves each element to its place, and copies none: `order` says for each place where its element is now.
  fileprivate mutating func arrange(in order: [Int]) {
    precondition(order.count == count, "each element has one place")
    var order = order
    // Each cycle of places is gone through once: the first element is put aside, and every place that became free is filled
    // with the element that belongs there. At its end each place has one element again.
    unsafe withUnsafeMutableBufferPointer { elements in
      for start in order.indices where order[start] != start {
        let first = unsafe elements.moveElement(from: start)
        var place = start
        while order[place] != start {
          let source = order[place]
          unsafe elements.initializeElement(at: place, to: elements.moveElement(from: source))
          order[place] = place
          place = source
        }
        unsafe elements.initializeElement(at: place, to: first)
        order[place] = place
      }
    }
  }
}
