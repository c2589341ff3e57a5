import BrokerCore
import BrokerProtocol
import Records
import SQLite
import SecretMemory

/// One change of the vault: rows, the manifest that lists them and the head that vouches for the manifest, inside one
/// transaction.
///
/// Works on copies of what is in memory, which take the place of the originals once the transaction is durable.
struct VaultChange {
  /// The vault's database, in a transaction.
  let connection: SQLiteConnection
  /// Seals what is written.
  let seal: VaultSeal
  /// The list of rows.
  var manifest: Manifest
  /// The head of the vault.
  var head: VaultHead
  /// The last sequence that may have been given.
  var sequence: UInt64
  /// Profiles of which some row was not what was written.
  var tampered: Set<ProfileName>
  /// Milliseconds since 1970-01-01T00:00:00Z.
  let time: Int64

  /// How many sealed bytes the kept events have.
  var eventBytes: Int

  /// Whether it takes tokens out of the vault, whose sealed bytes then linger in the write-ahead log.
  var endsSession = false

  /// A change of a vault as it is known.
  init(
    connection: SQLiteConnection, seal: VaultSeal, manifest: Manifest, head: VaultHead, sequence: UInt64,
    tampered: Set<ProfileName> = [], eventBytes: Int = 0, time: Int64
  ) {
    self.eventBytes = eventBytes
    self.tampered = tampered
    self.connection = connection
    self.seal = seal
    self.manifest = manifest
    self.head = head
    self.sequence = sequence
    self.time = time
  }

  private var events: EventTable { EventTable(connection: connection, seal: seal) }

  /// Does one step.
  ///
  /// - Throws: `StoreFailure.superseded`, `VaultError`.
  mutating func apply(_ step: StoreStep) throws {
    switch step {
    case .record(let record): try write(record)
    case .openIntent(let intent):
      manifest[.refreshIntent, intent.profile.description] =
        try RefreshIntentTable(connection: connection, seal: seal).open(intent)
    case .closeIntent(let profile): try closeIntent(profile)
    case .openLogin(let record):
      manifest[.pendingLogin, record.login.profile.description] =
        try PendingLoginTable(connection: connection, seal: seal).open(record)
    case .closeLogin(let profile): try closeLogin(profile)
    case .openRevocation(let revocation):
      manifest[.revocation, RevocationTable.name(of: revocation.id)] =
        try RevocationTable(connection: connection, seal: seal).open(revocation)
    case .closeRevocation(let id):
      try RevocationTable(connection: connection, seal: seal).close(id)
      manifest[.revocation, RevocationTable.name(of: id)] = nil
      endsSession = true
    case .park(let session):
      manifest[.parkedSession, ParkedSessionTable.name(of: session.id)] =
        try ParkedSessionTable(connection: connection, seal: seal).open(session)
    case .unpark(let id):
      try ParkedSessionTable(connection: connection, seal: seal).close(id)
      manifest[.parkedSession, ParkedSessionTable.name(of: id)] = nil
      endsSession = true
    case .keepRequest(let request, let contents):
      manifest[.queuedRequest, QueuedRequestTable.name(of: request.id)] =
        try QueuedRequestTable(connection: connection, seal: seal).keep(request)
      if let contents { try QueuedContentsTable(connection: connection, seal: seal).keep(contents, of: request.id) }
    case .forgetRequest(let id):
      let name = QueuedRequestTable.name(of: id)
      try QueuedRequestTable(connection: connection, seal: seal).remove(name)
      try QueuedContentsTable(connection: connection, seal: seal).remove(name)
      manifest[.queuedRequest, name] = nil
    case .event(let event): try append(event)
    case .eventsIncomplete(let sequence): head.completeness.lose(through: sequence, lasting: true)
    }
  }

  private mutating func write(_ record: SessionRecord) throws {
    let name = record.profile.description
    let listed = manifest[.session, name]
    let tag = try SessionTable(connection: connection, seal: seal).save(record, replacing: listed, at: time)
    guard let tag else { throw StoreFailure.superseded }
    manifest[.session, name] = tag
    try closeIntent(record.profile)
    // The profile begins again: what is left of the tampered record goes.
    if tampered.remove(record.profile) != nil {
      try closeLogin(record.profile)
      try closeRevocations(of: record.profile)
      try closeParked(of: record.profile)
      try forgetRequests(of: record.profile)
    }
    if case .living = record.contents { return }
    endsSession = true
  }

  private mutating func closeIntent(_ profile: ProfileName) throws {
    try RefreshIntentTable(connection: connection, seal: seal).close(profile)
    manifest[.refreshIntent, profile.description] = nil
  }

  private mutating func closeLogin(_ profile: ProfileName) throws {
    try PendingLoginTable(connection: connection, seal: seal).close(profile)
    manifest[.pendingLogin, profile.description] = nil
  }

  private mutating func closeRevocations(of profile: ProfileName) throws {
    try RevocationTable(connection: connection, seal: seal).closeAll(of: profile)
    manifest.removeAll(in: .revocation, of: profile)
  }

  private mutating func closeParked(of profile: ProfileName) throws {
    try ParkedSessionTable(connection: connection, seal: seal).closeAll(of: profile)
    manifest.removeAll(in: .parkedSession, of: profile)
  }

  private mutating func forgetRequests(of profile: ProfileName) throws {
    try QueuedRequestTable(connection: connection, seal: seal).forgetAll(of: profile)
    try QueuedContentsTable(connection: connection, seal: seal).forgetAll(of: profile)
    manifest.removeAll(in: .queuedRequest, of: profile)
  }

  private mutating func append(_ event: BrokerEvent) throws {
    let series = EventSeries(of: event.payload.name)
    eventBytes += try events.append(event, as: head[series].last + 1)
    head[series].last += 1
    // A sequence that could not be reserved before it was given is not given again either.
    sequence = max(sequence, event.sequence)
    while head.eventCount > Int64(EventRetention.count) || eventBytes > EventRetention.byteCount && head.eventCount > 1
    {
      try dropOldestEvent(of: try seriesToCut(), before: event)
    }
    // A clock that is behind the newest event says nothing about the age of the others.
    guard time >= event.time.milliseconds else { return }
    let limit = time - EventRetention.age.components.seconds * 1000
    for series in EventSeries.allCases {
      while head[series].count > 0, head.eventCount > 1, let oldest = try events.mark(of: head[series].first),
        oldest.time < limit
      { try dropOldestEvent(of: series, before: event) }
    }
  }

  /// The series whose oldest event goes: the one with the oldest of all, unless only the other has more than its share.
  private func seriesToCut() throws -> EventSeries {
    // A row that is not there is no event any more.
    guard head.passing.count > 0, let passing = try events.mark(of: head.passing.first) else {
      return head.passing.count > 0 ? .passing : .lasting
    }
    guard head.lasting.count > 0, let lasting = try events.mark(of: head.lasting.first) else {
      return head.lasting.count > 0 ? .lasting : .passing
    }
    let (older, other): (EventSeries, EventSeries) =
      passing.sequence < lasting.sequence ? (.passing, .lasting) : (.lasting, .passing)
    if head[older].count > Int64(EventRetention.share) { return older }
    return head[other].count > Int64(EventRetention.share) ? other : .passing
  }

  private mutating func dropOldestEvent(of series: EventSeries, before newest: BrokerEvent) throws {
    if let oldest = try events.mark(of: head[series].first) {
      // What stands in the clear is believed as far as it is possible.
      head.completeness.lose(through: min(oldest.sequence, newest.sequence), lasting: series == .lasting)
      eventBytes -= oldest.byteCount
    }
    try events.remove(head[series].first)
    head[series].first += 1
  }

  /// Forgets all events: those that are there cannot be trusted.
  ///
  /// - Throws: `VaultError.storage`.
  mutating func dropAllEvents() throws(VaultError) {
    try events.removeAll()
    for series in EventSeries.allCases { head[series].first = head[series].last + 1 }
    head.completeness.lose(through: sequence, lasting: true)
    eventBytes = 0
  }

  /// Writes a value of the vault itself.
  ///
  /// - Throws: `VaultError.storage`.
  mutating func set(_ name: MetadataTable.Name, to value: Secret) throws(VaultError) {
    manifest[.metadata, name.rawValue] = try MetadataTable(connection: connection, seal: seal).set(name, to: value)
  }

  /// Writes the manifest and the head: the last thing in the transaction.
  ///
  /// - Throws: `VaultError.storage`.
  mutating func finish() throws(VaultError) {
    let table = HeadTable(connection: connection)
    head.generation += 1
    head.changedAt = time
    head.sequenceFloor = sequence
    for bucket in manifest.changedBuckets {
      head.bucketTags[bucket] = try table.write(manifest, bucket: bucket, generation: head.generation, seal)
    }
    manifest.markWritten()
    try table.write(head, sequence: sequence, seal)
  }
}
