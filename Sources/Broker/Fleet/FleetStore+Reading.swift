package import BrokerCore
import BrokerProtocol
import Records
import Synchronization

/// Reads what other members have written.
extension FleetStore {
  /// Reads every shared profile.
  ///
  /// - Throws: `StoreFailure.failed(context:)`.
  package func load() async throws(StoreFailure) -> StoreContents {
    try await load(state.withLock { $0.bindings.keys.map { KnownRecord($0) } })
  }

  /// Reads what is another version than is known.
  ///
  /// - Throws: `StoreFailure.failed(context:)`.
  package func load(_ known: [KnownRecord]) async throws(StoreFailure) -> StoreContents {
    await listen()
    // By what is known before: changes go on meanwhile.
    let before = state.withLock { $0 }
    let (bindings, marks) = (before.bindings, before.known)
    let profiles = known.map { entry in
      // One that was taken up is known where nothing else was read or written since.
      let isKnown = marks[entry.profile]?.version == entry.version
      return WantedRecord(entry.profile.description, version: isKnown ? entry.version : nil)
    }
    let wanted = profiles + [WantedRecord(FleetKey.rowName, version: before.keyVersion)]
    // Without a list of captures: a closure with one would leave the caller's executor (Swift 6.3).
    let rows = try await look { record throws(SharedRecordFailure) in try await record.read(wanted) }
    let coding = try await coding(of: rows, known: before)
    var contents = StoreContents(records: [], lastSequence: 0)
    var unsent: [(ProfileName, version: Int64)] = []
    for (entry, wanted) in zip(known, wanted) {
      guard let binding = bindings[entry.profile] else { continue }
      if let row = rows.rows[wanted.name] {
        try read(
          row, of: entry.profile, binding, since: marks[entry.profile], by: coding, at: rows.time, into: &contents,
          &unsent)
      } else if let mark = marks[entry.profile], wanted.version == nil || rows.gone.contains(wanted.name) {
        contents.rolledBack[entry.profile] = mark.generation
      }
    }
    // Where that fails, the next reading finds it again.
    for (profile, version) in unsent { try? await withdraw(profile, version: version) }
    return contents
  }

  /// The coding of rows that were read together with that of the key, where that was another one than was known before.
  private func coding(of rows: SharedRows, known before: State) async throws(StoreFailure) -> FleetCoding {
    let isAnother = rows.rows[FleetKey.rowName] != nil || rows.gone.contains(FleetKey.rowName)
    guard !isAnother, before.keyVersion != nil, let coding = before.coding else {
      return try await self.coding(with: rows)
    }
    tellReached(withKey: true)
    return coding
  }

  /// Takes a row in; `known` was the newest before it was read.
  ///
  /// An intent of this member by which nothing was sent goes to `unsent`.
  private func read(
    _ row: SharedRow, of profile: ProfileName, _ binding: ProviderBinding, since known: FleetMark?,
    by coding: FleetCoding, at time: Int64, into contents: inout StoreContents,
    _ unsent: inout [(ProfileName, version: Int64)]
  ) throws(StoreFailure) {
    let entry: FleetEntry
    let record: SessionRecord
    do {
      entry = try coding.decode(row, of: profile, binding)
      let kept = try SessionContentsCoding.decode(entry.contents, entry.sealed)
      let session = state.withLock { $0.clock.read(kept, ahead: entry.clockAhead) }
      record = SessionRecord(profile: profile, binding: binding, generation: entry.generation, contents: session)
    } catch FleetCoding.Fault.otherBinding(let generation) {
      tellOtherBinding(of: profile)
      let none = SessionRecord.Contents.signedOut(at: Timestamp(milliseconds: 0))
      contents.records.append(
        SessionRecord(
          profile: profile, binding: ProviderBinding(type: ""), generation: generation, contents: none))
      return
    } catch FleetCoding.Fault.noRoom {
      throw .failed(context: "there is no room for secrets")
    } catch {
      contents.tampered.append(profile)
      return
    }
    let mark = FleetMark(entry, version: row.version)
    if let known, known.isAhead(of: mark) {
      contents.rolledBack[profile] = max(known.generation, mark.generation)
      return
    }
    // A change that was made since is newer.
    guard note(mark, of: profile) else { return }
    contents.records.append(record)
    if entry.flight == nil { contents.versions[profile] = row.version }
    guard let flight = entry.flight, flight.holder == member || flight.leaseEnd <= time else { return }
    if flight.holder == member, state.withLock({ $0.unanswered[profile] }) == row.version {
      unsent.append((profile, row.version))
      return
    }
    let isAnothers = flight.holder != member
    contents.intents.append(
      RefreshIntent(
        profile: profile, generation: flight.generation,
        startedAt: isAnothers ? start(of: flight, at: time) : flight.startedAt, isAnothers: isAnothers))
  }

  /// When another member has begun its flight, by the clock of this machine: its own may show another time.
  private func start(of flight: FleetFlight, at time: Int64) -> Timestamp {
    guard !flight.isReplay else { return flight.startedAt }
    let age = Duration.milliseconds(time - flight.leaseEnd) + Self.leaseDuration
    return state.withLock { $0.clock.now().wall } + (.zero - age)
  }

  /// Whether a version is later than what was read or written of a profile of this member.
  func isUnknown(_ version: Int64, of profile: ProfileName) -> Bool {
    state.withLock { $0.bindings[profile] != nil && $0.known[profile].map { $0.version < version } ?? true }
  }

  /// Notes what was read or written; false where it is older than what was known before.
  @discardableResult
  func note(_ mark: FleetMark, of profile: ProfileName) -> Bool {
    state.withLock { state in
      if let known = state.known[profile], known.isAhead(of: mark) { return false }
      state.known[profile] = mark
      return true
    }
  }
}
