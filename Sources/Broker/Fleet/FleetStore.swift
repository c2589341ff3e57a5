package import BrokerCore
package import BrokerProtocol
import Records
package import Sealing
import SecretMemory
import Synchronization

/// The sessions that several brokers share, sealed in records that all of them can read and write: see ``SharedRecord``.
///
/// The record of a session has the intent to spend its refresh token in it, and how long no other member may. Each change
/// reads the record, decides by it, and writes it if it is still the one that was read.
///
/// - Note: a member is one process: after a crash its own lease is another's to it, so that no copy of a state directory is
///   taken for it.
package final class FleetStore: RecordStore {
  /// Longer than the longest refresh (25 s), and what is left of it is longer than the two statements of an intent may take.
  static let leaseDuration = Duration.seconds(40)
  /// How often the records are read at least once they are told no longer: telling begins with the next connection.
  private static let intervalWithoutTelling = Duration.seconds(5)
  /// How often a change is tried again because another member has written meanwhile.
  private static let mostTries = 8

  /// A problem of the fleet, or the end of one, for the administrator's log.
  package enum Problem: Sendable, Equatable {
    /// The records cannot be read or written, for this reason.
    case unreachable(String)
    /// They can be again.
    case reachable
    /// A profile has another provider, client or address in the fleet: it is signed out here.
    case otherBinding(ProfileName)
  }

  /// Gets the key that the data key is wrapped under, or says why it cannot.
  package typealias KeySource = @Sendable () async -> Result<SealingKey, SharedRecordFailure>

  package var lease: Duration? { Self.leaseDuration }
  /// How often the records are read.
  package var pollInterval: Duration? {
    interval.map { news.isLost ? min($0, Self.intervalWithoutTelling) : $0 }
  }

  /// The place of the records.
  let record: any SharedRecord
  /// The hints of the place.
  let news = FleetNews()
  private let interval: Duration?
  private let fleet: String
  private let key: KeySource
  private let report: @Sendable (Problem) -> Void
  /// The name of this member, which no other has.
  let member = RandomBytes.array(count: FleetCoding.holderByteCount)
  /// The state of this member.
  let state: Mutex<State>

  /// The knowledge of a member of its fleet.
  struct State {
    /// The provider binding of each shared profile of this member.
    var bindings: [ProfileName: ProviderBinding]
    /// The coding under the data key, since that was unwrapped.
    var coding: FleetCoding?
    /// The version of the row with the data key.
    var keyVersion: Int64?
    /// The newest that was read or written of each profile.
    var known: [ProfileName: FleetMark] = [:]
    /// The clock of this machine beside the store's.
    var clock: FleetClock
    /// Whether a problem was reported of the records, and is not over.
    var isUnreachable = false
    /// The profiles of which one was reported.
    var otherBindings: Set<ProfileName> = []
  }

  /// A fleet's sessions.
  ///
  /// - Parameters:
  ///   - record: where they are.
  ///   - fleet: the name of the fleet.
  ///   - bindings: the shared profiles, each with the binding of its provider.
  ///   - pollInterval: how often they are read.
  ///   - key: gets the key of the fleet; it is asked once.
  ///   - wallClock: the clock of this machine.
  ///   - boot: the identifier of the machine's start; nil where it is unknown.
  ///   - report: is told of problems.
  package init(
    _ record: any SharedRecord, fleet: String, bindings: [ProfileName: ProviderBinding], pollInterval: Duration?,
    key: @escaping KeySource,
    wallClock: @escaping @Sendable () -> Timestamp, boot: String?,
    report: @escaping @Sendable (Problem) -> Void
  ) {
    self.record = record
    self.fleet = fleet
    interval = pollInterval
    self.key = key
    self.report = report
    state = Mutex(State(bindings: bindings, clock: FleetClock(wallClock, boot: boot)))
  }

  /// Adopts the shared profiles of another configuration; one that is none any more may still have a refresh under way.
  package func serve(_ bindings: [ProfileName: ProviderBinding]) {
    state.withLock { $0.bindings.merge(bindings) { _, new in new } }
  }

  package func forgetSharedKeys() { forgetKey() }

  /// Forgets the data key: the next reading brings it.
  func forgetKey() { state.withLock { ($0.coding, $0.keyVersion) = (nil, nil) } }

  /// Ends what the records have open.
  package func close() async { await record.close() }

  // MARK: Writing

  package func commit(_ steps: [StoreStep]) async throws(StoreFailure) {
    guard let profile = steps.first?.recordedProfile, let binding = state.withLock({ $0.bindings[profile] }) else {
      throw .failed(context: "the profile is not shared")
    }
    for _ in 0..<Self.mostTries {
      let rows = try await look { record throws(SharedRecordFailure) in try await record.read(profile.description) }
      let coding = try await coding(with: nil)
      let row = rows.rows[profile.description]
      var change = FleetChange(
        try row.map { row throws(StoreFailure) in try open(row, of: profile, binding, by: coding, for: steps) } ?? nil,
        member: member, lease: Self.leaseDuration, time: rows.time)
      let mark = row.flatMap { row in change.entry.map { coding.mark(of: $0, version: row.version) } }
      change.isRolledBack = isRolledBack(mark, of: profile)
      change.clockAhead = state.withLock { $0.clock.ahead } ?? 0
      guard let entry = try change.apply(steps) else { return }
      let last = max(row?.version ?? 0, state.withLock { $0.known[profile]?.version } ?? 0)
      guard let version = FleetMark.version(after: last, at: rows.time) else {
        throw .failed(context: "the record has the last version that there is")
      }
      let bytes = coding.encode(entry, of: profile, binding, version: version)
      let isWritten = try await reach { record throws(SharedRecordFailure) in
        try await record.write(
          bytes, as: profile.description, from: row?.version, to: version, isTold: steps.contains(where: \.isRecord))
      }
      if isWritten {
        _ = note(coding.mark(of: entry, version: version), of: profile)
        return
      }
    }
    throw .failed(context: "other members of the fleet write all the time")
  }

  private func isRolledBack(_ mark: FleetMark?, of profile: ProfileName) -> Bool {
    guard let known = state.withLock({ $0.known[profile] }) else { return false }
    return mark.map { known.isAhead(of: $0) } ?? true
  }

  /// Opens the row that a change is about; nil for one that cannot be trusted, in whose place a record may come.
  private func open(
    _ row: SharedRow, of profile: ProfileName, _ binding: ProviderBinding, by coding: FleetCoding,
    for steps: [StoreStep]
  ) throws(StoreFailure) -> FleetEntry? {
    do throws(FleetCoding.Fault) {
      return try coding.decode(row, of: profile, binding)
    } catch {
      switch error {
      case .otherBinding:
        tellOtherBinding(of: profile)
        throw .failed(context: "the profile \(profile) has another provider, client or address in the fleet")
      case .noRoom: throw .failed(context: "there is no room for secrets")
      case .damaged:
        guard steps.allSatisfy(\.isRecord) else { throw .tampered(profile: profile) }
        return nil
      }
    }
  }

  // MARK: The place and its key

  /// The coding under the data key, which is unwrapped once.
  func coding(with rows: SharedRows?) async throws(StoreFailure) -> FleetCoding {
    if let known = state.withLock({ $0.coding }) { return known }
    var found = rows
    if found == nil {
      found = try await reach { record throws(SharedRecordFailure) in try await record.read(FleetKey.rowName) }
    }
    guard let row = found?.rows[FleetKey.rowName] else {
      throw tell(SharedRecordFailure("the fleet \(fleet) has no key yet; run: authbroker fleet init"))
    }
    let key: SealingKey
    switch await self.key() {
    case .success(let found): key = found
    case .failure(let failure): throw tell(failure)
    }
    do throws(SealingError) {
      let coding = FleetCoding(fleet: fleet, seal: try FleetKey(row.bytes, fleet: fleet, under: key).seal)
      state.withLock { ($0.coding, $0.keyVersion) = (coding, row.version) }
      return coding
    } catch .wrongKey {
      throw tell(SharedRecordFailure("store.key is not the key of the fleet \(fleet)"))
    } catch {
      throw tell(SharedRecordFailure("the key of the fleet \(fleet) cannot be opened: \(error)"))
    }
  }

  /// Reads the place, and compares its clock.
  func look(
    _ question: (any SharedRecord) async throws(SharedRecordFailure) -> SharedRows
  ) async throws(StoreFailure) -> SharedRows {
    let begin = state.withLock { $0.clock.wall() }
    let rows = try await reach(question)
    guard state.withLock({ $0.clock.note(rows.time, from: begin, to: $0.clock.wall()) }) else {
      throw .failed(context: "the first reading took too long to compare the clocks by it")
    }
    return rows
  }

  /// Asks the place, and reports where that begins to fail, and where it succeeds again.
  private func reach<Value: Sendable>(
    _ question: (any SharedRecord) async throws(SharedRecordFailure) -> Value
  ) async throws(StoreFailure) -> Value {
    do throws(SharedRecordFailure) {
      let value = try await question(record)
      let wasUnreachable = state.withLock { state in
        defer { state.isUnreachable = false }
        return state.isUnreachable
      }
      if wasUnreachable { report(.reachable) }
      return value
    } catch {
      throw tell(error)
    }
  }

  private func tell(_ failure: SharedRecordFailure) -> StoreFailure {
    let isNews = state.withLock { state in
      defer { state.isUnreachable = true }
      return !state.isUnreachable
    }
    if isNews { report(.unreachable(failure.reason)) }
    return .failed(context: failure.reason)
  }

  /// Reports, once, that a profile has another binding in the fleet.
  func tellOtherBinding(of profile: ProfileName) {
    if state.withLock({ $0.otherBindings.insert(profile).inserted }) { report(.otherBinding(profile)) }
  }
}
