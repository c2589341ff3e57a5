package import BrokerCore
import BrokerProtocol
import Records
import Synchronization

/// Changes of the sessions of a fleet.
extension FleetStore {
  /// How often a change is tried again because another member has written meanwhile.
  private static let mostTries = 8
  /// How many records are remembered whose write had no answer.
  private static let mostUnanswered = 8
  /// How often a row is read that has another key than the fleet, which has been given one between two readings, before the
  /// row is what no member has written.
  private static let mostKeyReadings = 3

  /// Makes all steps durable, or none of them: see ``RecordStore``.
  package func commit(_ steps: [StoreStep]) async throws(StoreFailure) {
    guard let profile = steps.first?.recordedProfile, let binding = state.withLock({ $0.bindings[profile] }) else {
      throw .failed(context: "the profile is not shared")
    }
    var keyReadings = 0
    for _ in 0..<Self.mostTries {
      let known = known(of: profile)
      let rows = try await look { record throws(SharedRecordFailure) in try await record.read(profile.description) }
      let row = rows.rows[profile.description]
      // A record that is not there has no version that would show that the key is another one by now: see ``write``.
      let keyRows = row == nil ? try await readKey() : nil
      var coding = try await coding(with: keyRows)
      let entry: FleetEntry?
      do throws(FleetCoding.Fault) {
        entry = try row.map { row throws(FleetCoding.Fault) in try coding.decode(row, of: profile, binding) }
      } catch .otherKey where keyReadings < Self.mostKeyReadings {
        keyReadings += 1
        _ = try await self.coding(with: readKey())
        continue
      } catch {
        try expectReplaceable(error, of: profile, by: steps)
        entry = nil
        // The row that is replaced does not show whether the key is another one by now.
        coding = try await self.coding(with: readKey())
      }
      var change = change(of: entry, in: row, of: profile, since: known, at: rows.time)
      guard let new = try change.apply(steps) else { return }
      let (isTold, key) = (steps.contains(where: \.isRecord), keyRows?.rows[FleetKey.rowName])
      let place = Place(profile: profile, binding: binding, coding: coding, row: row, entry: entry, time: rows.time)
      if try await put(new, in: place, isTold: isTold, with: key) { return }
    }
    throw .failed(context: "other members of the fleet write all the time")
  }

  /// The place of a session, as it was read for a change.
  private struct Place {
    let profile: ProfileName
    let binding: ProviderBinding
    let coding: FleetCoding
    /// The row; nil where there is none.
    let row: SharedRow?
    /// The session in it; nil where there is none, or one that cannot be trusted.
    let entry: FleetEntry?
    /// When it was read, by the clock of the store.
    let time: Int64
  }

  private func known(of profile: ProfileName) -> FleetMark? { state.withLock { $0.known[profile] } }

  /// A change of what a row has of a session; `known` was the newest before it was read.
  private func change(
    of entry: FleetEntry?, in row: SharedRow?, of profile: ProfileName, since known: FleetMark?, at time: Int64
  ) -> FleetChange {
    let (clock, unanswered) = state.withLock { ($0.clock, $0.unansweredRecords[profile] ?? []) }
    var change = FleetChange(entry, member: member, lease: Self.leaseDuration, time: time, clock: clock)
    let mark = row.flatMap { row in entry.map { FleetMark($0, version: row.version) } }
    change.isRolledBack = known.map { known in mark.map { known.isAhead(of: $0) } ?? true } ?? false
    change.isEarlier = known.map { known in mark.map { $0.version < known.version } ?? true } ?? false
    change.isOwn = mark.map { mark in unanswered.contains { $0.isOfSameContents(as: mark) } } ?? false
    return change
  }

  /// Puts a session in its place, with the next version; `key` is the row of the key, where there was none of the session.
  ///
  /// - Returns: whether it was written; false where another member has written since.
  private func put(
    _ new: FleetEntry, in place: Place, isTold: Bool, with key: SharedRow? = nil
  ) async throws(StoreFailure) -> Bool {
    let (profile, row) = (place.profile, place.row)
    let last = max(row?.version ?? 0, state.withLock { $0.known[profile]?.version } ?? 0)
    let version = try Self.version(after: last, at: place.time)
    let bytes = place.coding.encode(new, of: profile, place.binding, version: version)
    let write = SharedWrite(bytes, as: profile.description, from: row?.version, to: version)
    do throws(StoreFailure) {
      guard try await self.write(write, isTold: isTold, with: key, at: place.time) else { return false }
    } catch {
      noteUnanswered(new, version: version, in: row, place.entry, of: profile)
      throw error
    }
    state.withLock { state in
      state.unanswered[profile] = nil
      if new.generation != place.entry?.generation { state.unansweredRecords[profile] = nil }
    }
    note(FleetMark(new, version: version), of: profile)
    return true
  }

  /// Notes a record, or an intent, whose write had no answer; an intent that stands in the place of a flight by which something
  /// was sent is about the reply to that as well.
  private func noteUnanswered(
    _ new: FleetEntry, version: Int64, in row: SharedRow?, _ old: FleetEntry?, of profile: ProfileName
  ) {
    state.withLock { state in
      if new.generation != old?.generation {
        let others = state.unansweredRecords[profile, default: []].suffix(Self.mostUnanswered - 1)
        state.unansweredRecords[profile] = others + [FleetMark(new, version: version)]
      }
      guard new.flight != nil else { return }
      guard old?.flight == nil || row != nil && state.unanswered[profile] == row?.version else { return }
      state.unanswered[profile] = version
    }
  }

  private static func version(after last: Int64, at time: Int64) throws(StoreFailure) -> Int64 {
    guard let version = FleetMark.version(after: last, at: time) else {
      throw .failed(context: "a record has the last version that there is")
    }
    return version
  }

  /// Writes a record; one that was not there before together with the row of the key under which it is sealed, so that the
  /// key is still that of the fleet.
  private func write(
    _ write: SharedWrite, isTold: Bool, with key: SharedRow?, at time: Int64
  ) async throws(StoreFailure) -> Bool {
    let same = try key.map { key throws(StoreFailure) in
      SharedWrite(
        key.bytes, as: FleetKey.rowName, from: key.version, to: try Self.version(after: key.version, at: time))
    }
    return try await reach { record throws(SharedRecordFailure) in
      if let same { return try await record.write([same, write]) }
      return try await record.write(write.bytes, as: write.name, from: write.old, to: write.new, isTold: isTold)
    }
  }

  /// Closes the intent whose write had no answer, where it has this version: nothing was sent by it.
  func withdraw(_ profile: ProfileName, version: Int64) async throws(StoreFailure) {
    guard let binding = state.withLock({ $0.bindings[profile] }) else { return }
    let known = known(of: profile)
    let rows = try await look { record throws(SharedRecordFailure) in try await record.read(profile.description) }
    let coding = try await coding(with: nil)
    guard let row = rows.rows[profile.description], row.version == version,
      let entry = try? coding.decode(row, of: profile, binding)
    else { return }
    var change = change(of: entry, in: row, of: profile, since: known, at: rows.time)
    guard let new = try change.apply([.closeIntent(profile)]) else { return }
    let place = Place(profile: profile, binding: binding, coding: coding, row: row, entry: entry, time: rows.time)
    _ = try await put(new, in: place, isTold: false)
  }

  /// Throws unless a row that cannot be used may be replaced by what is written: one that cannot be trusted, by a record.
  private func expectReplaceable(
    _ fault: FleetCoding.Fault, of profile: ProfileName, by steps: [StoreStep]
  ) throws(StoreFailure) {
    switch fault {
    case .otherBinding:
      tellOtherBinding(of: profile)
      throw .failed(context: "the profile \(profile) has another provider, client or address in the fleet")
    case .noRoom: throw .failed(context: "there is no room for secrets")
    case .damaged, .otherKey:
      if !steps.allSatisfy(\.isRecord) { throw .tampered(profile: profile) }
    }
  }
}
