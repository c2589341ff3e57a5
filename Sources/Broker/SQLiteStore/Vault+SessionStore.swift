package import BrokerCore
import SQLite
import SecretMemory

extension Vault: SessionStore {
  /// Opens everything that rests; what does not open is named, and keeps nothing else back.
  ///
  /// - Throws: `StoreFailure.locked`, `.failed`.
  package func load() async throws(StoreFailure) -> StoreContents {
    let (connection, open) = try opened()
    do throws(VaultError) {
      let found = try VaultReader(connection: connection, seal: open.seal).contents(
        open.manifest, without: Set(open.ended.values))
      if found.hasForeignRows { contents?.suspicions.insert(.foreignRow) }
      contents?.tampered = found.tampered
      var loaded = found.contents
      loaded.isSuspect = found.hasForeignRows || open.suspicions.contains { $0.isAlarm }
      loaded.mayBeOlder = open.mayBeOlder
      loaded.lastSequence = sequence
      loaded.completeness = completeness(open)
      return loaded
    } catch { throw StoreFailure(error) }
  }

  /// Seals what changes and writes it durably, all of it or nothing.
  ///
  /// - Throws: `StoreFailure.superseded`, `.locked`, `.failed`, `.tampered` where the file is not in its place.
  package func commit(_ steps: [StoreStep]) async throws(StoreFailure) {
    guard !steps.isEmpty else { return }
    let endsSession: Bool
    do throws(StoreFailure) {
      endsSession = try change { change in
        for step in steps { try change.apply(step) }
      }
    } catch {
      guard endInPlace(steps) else { throw error }
      return
    }
    guard endsSession else { return }
    // After the answer: the sealed tokens of a session that ended do not linger in the log.
    Task { truncateLog() }
  }

  /// Opens the first kept events of a range.
  ///
  /// - Throws: `StoreFailure.tampered` without a profile, `.locked`, `.failed`.
  package func events(
    after sequence: UInt64, through last: UInt64, limit: Int
  ) async throws(StoreFailure) -> StoredEvents {
    let (connection, open) = try opened()
    let completeness = completeness(open)
    guard !open.mustDropEvents else { return StoredEvents(events: [], through: last, completeness: completeness) }
    do throws(VaultError) {
      let table = EventTable(connection: connection, seal: open.seal)
      let page = try table.page(after: sequence, through: last, limit: limit)
      return StoredEvents(events: page.events, through: page.through, completeness: completeness)
    } catch { throw StoreFailure(error) }
  }

  /// Opens what is sent with a queued request, or what came.
  ///
  /// - Throws: `StoreFailure.tampered`, `.locked`, `.failed`.
  package func contents(of request: QueuedRequest.ID) async throws(StoreFailure) -> QueuedContents? {
    let (connection, open) = try opened()
    return try QueuedContentsTable(connection: connection, seal: open.seal).contents(of: request)
  }

  /// The sequences after which every kept event can be replayed: none of those that are about to be removed.
  private func completeness(_ open: OpenVault) -> EventCompleteness {
    var completeness = open.head.completeness
    if open.mustDropEvents || !open.ended.isEmpty { completeness.lose(through: sequence, lasting: true) }
    return EventCompleteness(all: completeness.all, lasting: completeness.lasting)
  }

  /// Writes a sequence durably, unless a later one is there.
  ///
  /// A vault that waits for its first passphrase has no place for it yet: it is remembered, and written with the rest.
  ///
  /// - Throws: `StoreFailure.failed`.
  package func reserveSequences(through sequence: UInt64) async throws(StoreFailure) {
    guard sequence > self.sequence else { return }
    if contents != nil {
      _ = try change { $0.sequence = sequence }
    } else {
      do throws(VaultError) {
        let connection = try database()
        if schemaVersion >= VaultSchema.keyedVersion { try HeadTable(connection: connection).setSequence(sequence) }
      } catch { throw StoreFailure(error) }
      self.sequence = sequence
    }
  }

  /// The connection and what is known, while the key is there.
  ///
  /// - Throws: `StoreFailure.locked`, `.failed` after the end.
  func opened() throws(StoreFailure) -> (SQLiteConnection, OpenVault) {
    let connection: SQLiteConnection
    do { connection = try database() } catch { throw StoreFailure(error) }
    guard let contents else { throw .locked }
    return (connection, contents)
  }

  /// Does something to the vault in one transaction; what is in memory follows once it is durable.
  ///
  /// - Returns: whether a session was ended.
  /// - Throws: what `body` throws, `StoreFailure.locked`, `.failed`, `.tampered`; nothing was changed then.
  @discardableResult
  func change(_ body: (inout VaultChange) throws -> Void) throws(StoreFailure) -> Bool {
    let (connection, open) = try opened()
    try requireFileInPlace()
    isDiskFull = false
    do {
      do {
        return try attempt(connection, open, body)
      } catch let error where VaultError(whileReading: error).isDiskFull {
        reserve.release()
        isReserveSpent = true
        return try attempt(connection, open, body)
      }
    } catch let error as StoreFailure {
      throw error
    } catch {
      let failure = VaultError(whileReading: error)
      isDiskFull = failure.isDiskFull
      if case .storage = failure, !isDiskFull { isCommitInDoubt = true }
      throw StoreFailure(failure)
    }
  }

  /// Does something to the vault in one transaction, and takes nothing of the reserve.
  ///
  /// - Returns: whether a session was ended.
  /// - Throws: what `body` throws, `SQLiteError`; nothing was changed then.
  @discardableResult
  func attempt(
    _ connection: SQLiteConnection, _ open: OpenVault, _ body: (inout VaultChange) throws -> Void
  ) throws -> Bool {
    var change = VaultChange(
      connection: connection, seal: open.seal, manifest: open.manifest, head: open.head, sequence: sequence,
      tampered: open.tampered, eventBytes: open.eventBytes, time: now())
    // A place that cannot be used today does not undo that there was one.
    if anchor != nil { change.head.hasAnchor = true }
    try connection.transaction {
      if open.mustDropEvents { try change.dropAllEvents() }
      try change.bury(open)
      try body(&change)
      try change.finish()
    }
    contents?.manifest = change.manifest
    contents?.head = change.head
    contents?.tampered = change.tampered
    contents?.eventBytes = change.eventBytes
    if predecessor != nil, change.eventBytes > open.eventBytes {
      predecessor = nil
      lossFile.forget()
    }
    contents?.mustDropEvents = false
    sequence = change.sequence
    anchor?.write(change.head.generation)
    isCommitInDoubt = false
    if isReserveSpent { isReserveSpent = !reserve.take() }
    if !open.ended.isEmpty { noteBuried() }
    return change.endsSession
  }

  /// Copies the write-ahead log into the database and cuts it to nothing; where that fails, the next one does it.
  private func truncateLog() {
    guard let connection = try? database() else { return }
    try? connection.checkpoint()
  }
}
