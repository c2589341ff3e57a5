package import BrokerCore
import BrokerProtocol
import Records
import Synchronization

/// Changes of the sessions of a fleet.
extension FleetStore {
  /// How often a change is tried again because another member has written meanwhile.
  private static let mostTries = 8
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
      let rows = try await look { record throws(SharedRecordFailure) in try await record.read(profile.description) }
      let known = state.withLock { $0.known[profile] }
      let row = rows.rows[profile.description]
      // A record that is not there has no version that would show that the key is another one by now: see ``write``.
      let keyRows = row == nil ? try await readKey() : nil
      let coding = try await coding(with: keyRows)
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
      }
      var change = FleetChange(
        entry, member: member, lease: Self.leaseDuration, time: rows.time, clock: state.withLock { $0.clock })
      let mark = row.flatMap { row in entry.map { FleetMark($0, version: row.version) } }
      change.isRolledBack = known.map { known in mark.map { known.isAhead(of: $0) } ?? true } ?? false
      guard let entry = try change.apply(steps) else { return }
      // No member takes it for an earlier one, whatever it has seen.
      let version = max(row?.version ?? 0, state.withLock { $0.known[profile]?.version } ?? 0) + 1
      let write = SharedWrite(
        coding.encode(entry, of: profile, binding, version: version), as: profile.description, from: row?.version,
        to: version)
      if try await self.write(write, with: keyRows?.rows[FleetKey.rowName]) {
        note(FleetMark(entry, version: version), of: profile)
        return
      }
    }
    throw .failed(context: "other members of the fleet write all the time")
  }

  /// Writes a record; one that was not there before together with the row of the key under which it is sealed, so that the
  /// key is still that of the fleet.
  private func write(_ write: SharedWrite, with key: SharedRow?) async throws(StoreFailure) -> Bool {
    try await reach { record throws(SharedRecordFailure) in
      guard let key else {
        return try await record.write(write.bytes, as: write.name, from: write.old, to: write.new)
      }
      let same = SharedWrite(key.bytes, as: FleetKey.rowName, from: key.version, to: key.version + 1)
      return try await record.write([same, write])
    }
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
