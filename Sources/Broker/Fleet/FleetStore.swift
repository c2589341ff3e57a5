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

  /// A problem of the fleet, or the end of one, for the administrator's log.
  package enum Problem: Sendable, Equatable {
    /// The records cannot be read or written, or not opened, for this reason.
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
    /// The versions of intents whose write had no answer: nothing was sent by them, whether they were written or not.
    var unanswered: [ProfileName: Int64] = [:]
    /// The last records whose write had no answer since one had.
    var unansweredRecords: [ProfileName: [FleetMark]] = [:]
    /// The clocks of this machine beside the store's.
    var clock: FleetClock
    /// The part that the last report of a problem was about; nil for none, or since it is over.
    var failing: Part?
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
  ///   - key: gets the key of the fleet; it is asked until it has unwrapped the data key, and again for another one.
  ///   - now: the clocks of this machine.
  ///   - boot: the identifier of the machine's start; nil where it is unknown.
  ///   - report: is told of problems.
  package init(
    _ record: any SharedRecord, fleet: String, bindings: [ProfileName: ProviderBinding], pollInterval: Duration?,
    key: @escaping KeySource,
    now: @escaping @Sendable () -> Moment, boot: String?,
    report: @escaping @Sendable (Problem) -> Void
  ) {
    self.record = record
    self.fleet = fleet
    interval = pollInterval
    self.key = key
    self.report = report
    state = Mutex(State(bindings: bindings, clock: FleetClock(now, boot: boot)))
  }

  /// Adopts the shared profiles of another configuration; one that is none any more may still have a refresh under way.
  package func serve(_ bindings: [ProfileName: ProviderBinding]) {
    state.withLock { $0.bindings.merge(bindings) { _, new in new } }
  }

  package func forgetSharedKeys() { state.withLock { ($0.coding, $0.keyVersion) = (nil, nil) } }

  /// Ends what the records have open.
  package func close() async { await record.close() }

  // MARK: The place and its key

  /// The row of the data key, with the time.
  func readKey() async throws(StoreFailure) -> SharedRows {
    try await reach { record throws(SharedRecordFailure) in try await record.read(FleetKey.rowName) }
  }

  /// The coding under the data key of the fleet, which is unwrapped again where the rows have another one.
  func coding(with rows: SharedRows?) async throws(StoreFailure) -> FleetCoding {
    let known = state.withLock { $0.coding }
    var found = rows?.rows[FleetKey.rowName]
    if let known, found == nil || known.seal.vaultID == found.flatMap({ FleetKey.id(in: $0.bytes) }) {
      if let found { state.withLock { $0.keyVersion = found.version } }
      tellReached(withKey: found != nil)
      return known
    }
    if found == nil { found = try await readKey().rows[FleetKey.rowName] }
    let key: SealingKey
    switch await self.key() {
    case .success(let found): key = found
    case .failure(let failure): throw tell(failure, about: .key)
    }
    do throws(SharedRecordFailure) {
      let coding = FleetCoding(fleet: fleet, seal: try FleetKey.unwrap(found, fleet: fleet, under: key).seal)
      state.withLock { ($0.coding, $0.keyVersion) = (coding, found?.version) }
      tellReached(withKey: true)
      return coding
    } catch { throw tell(error, about: .key) }
  }

  /// Reads the place, and compares its clock.
  func look(
    _ question: (any SharedRecord) async throws(SharedRecordFailure) -> SharedRows
  ) async throws(StoreFailure) -> SharedRows {
    let begin = state.withLock { $0.clock.now().wall }
    let rows = try await reach(question)
    guard state.withLock({ $0.clock.note(rows.time, from: begin, to: $0.clock.now().wall) }) else {
      throw .failed(context: "the first reading took too long to compare the clocks by it")
    }
    return rows
  }

  /// Asks the place, and reports where that begins to fail.
  func reach<Value: Sendable>(
    _ question: (any SharedRecord) async throws(SharedRecordFailure) -> Value
  ) async throws(StoreFailure) -> Value {
    do throws(SharedRecordFailure) { return try await question(record) } catch { throw tell(error, about: .place) }
  }

  /// A part that can fail: the way to the records, or their key.
  enum Part { case place, key }

  private func tell(_ failure: SharedRecordFailure, about part: Part) -> StoreFailure {
    let isNews = state.withLock { state in
      defer { state.failing = part }
      return state.failing != part
    }
    if isNews { report(.unreachable(failure.reason)) }
    return .failed(context: failure.reason)
  }

  /// Reports the end of a problem: the place was read, and where `withKey` its key was seen to be the one that is known.
  func tellReached(withKey: Bool) {
    let isOver = state.withLock { state in
      guard let failing = state.failing, withKey || failing == .place else { return false }
      state.failing = nil
      return true
    }
    if isOver { report(.reachable) }
  }

  /// Reports, once, that a profile has another binding in the fleet.
  func tellOtherBinding(of profile: ProfileName) {
    if state.withLock({ $0.otherBindings.insert(profile).inserted }) { report(.otherBinding(profile)) }
  }
}
