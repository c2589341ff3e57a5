import BrokerCore
import BrokerProtocol
import Synchronization

/// What several brokers share of sessions: each record, and who may spend its refresh token.
final class SharedDisk: Sendable {
  /// How long an intent keeps others away.
  static let lease = Duration.seconds(40)

  private struct Row {
    var record: SessionRecord?
    var intent: (intent: RefreshIntent, member: Int, end: Duration)?
  }

  private struct State {
    var rows: [ProfileName: Row] = [:]
    var held: [ProfileName: (count: Int, end: Duration)] = [:]
  }

  private let state = Mutex(State())

  /// The record of a profile.
  func record(of profile: ProfileName) -> SessionRecord? { state.withLock { $0.rows[profile]?.record } }

  /// The member whose intent is open, and until when its lease runs.
  func intent(of profile: ProfileName) -> (member: Int, end: Duration)? {
    state.withLock { state in state.rows[profile]?.intent.map { ($0.member, $0.end) } }
  }

  /// How often a member was told to wait, and the end of the last lease that it was told.
  func held(_ profile: ProfileName) -> (count: Int, end: Duration) {
    state.withLock { $0.held[profile] ?? (0, .zero) }
  }

  /// What a member is shown.
  func contents(for member: Int, at uptime: Duration) -> StoreContents {
    state.withLock { state in
      var contents = StoreContents(records: state.rows.values.compactMap(\.record), lastSequence: 0)
      contents.intents = state.rows.values.compactMap { row in
        guard let open = row.intent, open.member == member || open.end <= uptime else { return nil }
        var intent = open.intent
        intent.isAnothers = open.member != member
        return intent
      }
      return contents
    }
  }

  /// Does all steps of a member, or none of them.
  func commit(_ steps: [StoreStep], by member: Int, at uptime: Duration) throws(StoreFailure) {
    try state.withLock { state throws(StoreFailure) in
      for step in steps {
        switch step {
        case .record(let record):
          guard let old = state.rows[record.profile]?.record else { break }
          if old.generation >= record.generation || record.followed ?? old.generation != old.generation {
            throw .superseded
          }
        case .openIntent(let intent):
          guard intent.generation == state.rows[intent.profile]?.record?.generation else { throw .superseded }
          guard let open = state.rows[intent.profile]?.intent, open.member != member else { break }
          guard open.end <= uptime else {
            let count = state.held[intent.profile]?.count ?? 0
            state.held[intent.profile] = (count + 1, open.end)
            throw .held(for: open.end - uptime)
          }
          guard intent.followsLostReply, intent.knowsRepetition || !open.intent.followsLostReply else {
            throw .superseded
          }
        default: break
        }
      }
      for step in steps { Self.take(step, by: member, at: uptime, &state.rows) }
    }
  }

  private static func take(_ step: StoreStep, by member: Int, at uptime: Duration, _ rows: inout [ProfileName: Row]) {
    switch step {
    case .record(let record): rows[record.profile] = Row(record: record)
    case .openIntent(let intent): rows[intent.profile]?.intent = (intent, member, uptime + lease)
    case .closeIntent(let profile):
      if rows[profile]?.intent?.member == member { rows[profile]?.intent = nil }
    default: break
    }
  }
}

/// One life's view of what the broker shares.
final class SharedStore: RecordStore {
  let lease: Duration? = SharedDisk.lease
  private let disk: SharedDisk
  private let member: Int
  private let clock: SimulatedClock
  private let wire: Wire<StoreQuestion, StoreAnswer>
  private let inbox: Inbox

  /// The view of a member.
  init(
    _ disk: SharedDisk, member: Int, _ clock: SimulatedClock, _ wire: Wire<StoreQuestion, StoreAnswer>, _ inbox: Inbox
  ) {
    (self.disk, self.member, self.clock, self.wire, self.inbox) = (disk, member, clock, wire, inbox)
  }

  func load() async throws(StoreFailure) -> StoreContents {
    guard case .done = await wire.ask(.read) else { throw SimulatedStore.failure }
    return disk.contents(for: member, at: clock.uptime)
  }

  func commit(_ steps: [StoreStep]) async throws(StoreFailure) {
    let answer = await wire.ask(.commit(steps))
    if case .failed = answer {
      inbox.add(.refused(steps, isDurable: false))
      throw SimulatedStore.failure
    }
    // What another member forbids is no failure of the disk.
    try disk.commit(steps, by: member, at: clock.uptime)
    inbox.add(.committed(steps))
    guard case .doneButFailed = answer else { return }
    inbox.add(.refused(steps, isDurable: true))
    throw SimulatedStore.failure
  }
}
