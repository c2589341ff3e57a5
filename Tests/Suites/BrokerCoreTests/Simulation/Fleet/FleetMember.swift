import BrokerCore
import BrokerProtocol
import Fleet
import ProviderKit
import Sealing
import TestSupport

/// One member of a simulated fleet, from a start to its death: a broker with a vault of its own.
final class FleetMember {
  /// A question on its way, and what has become of it already.
  struct Asked<Answer> {
    /// When it was asked, by the time of the world.
    let at: Duration
    /// The answer, where that is still on its way back.
    var answer: Answer?
  }

  /// The newest of the session that it knows.
  struct Known: Equatable {
    var version: Int64
    var generation: UInt64
    var content: String

    /// Whether a row is of an earlier time, or of another one.
    func isAhead(of found: Known) -> Bool {
      found.generation == generation
        ? found.version < version || found.content != content : found.generation < generation
    }
  }

  /// Its number; no other life has it.
  let number: Int
  /// How much later its clock of the machine's start shows than the world's.
  let uptimeAhead: Duration
  let clock: SimulatedClock
  let providers = Wire<ProviderRequest, ProviderAnswer>(after: 0)
  let records = Wire<RecordQuestion, RecordAnswer>(after: 0)
  /// Its way to the place.
  let view: PlaceView
  let storage = Wire<StoreQuestion, StoreAnswer>(after: 0)
  let inbox = Inbox()
  let broker: Broker
  /// The file with its `store.key`.
  let file: SimulatedKeyFile
  /// The name of the data key that it has unwrapped last.
  var opened: [UInt8]?
  private let store: SimulatedStore
  /// What it has asked.
  var sent: [Int: Asked<ProviderAnswer>] = [:]
  var asked: [Int: Asked<RecordAnswer>] = [:]
  var last = (provider: 0, record: 0)
  /// When views that are on their way were read at the place.
  var views: [Int: Duration] = [:]
  /// Whether its process is stopped: it is answered, and does nothing.
  var isStopped = false
  /// Whether it cannot reach the place.
  var isCutOff = false
  /// Whether the writes of others are told to it.
  var isTold = false
  /// The rows that it was shown, by their versions.
  var shown: [Int64: [UInt8]] = [:]
  /// When what it was shown last was read at the place.
  var viewedAt = Duration.zero
  var known: Known?
  /// Whether what it was shown last is older than what it knows, and how often it has raised the alarm.
  var isBehind = false
  /// Whether it has written nothing since that could take the place of what was lost.
  var mayNotSpend = false
  var alarms = (wanted: 0, raised: 0)
  /// Access tokens that it has got from the provider itself.
  var received: Set<String> = []
  /// Access tokens that it was told to be refused.
  var refused: Set<String> = []

  /// A member that has not begun.
  init(
    _ number: Int, _ executor: TurnedExecutor, world: (uptime: Duration, wall: Timestamp), key: SealingKey,
    rules: SessionRules, _ random: inout SeededGenerator
  ) {
    self.number = number
    uptimeAhead = .seconds(Int.random(in: 0...100_000, using: &random))
    let skew = Duration.seconds([0, 0, -3600, 40, -40, 7200].randomElement(using: &random) ?? 0)
    let clock = SimulatedClock(
      uptime: world.uptime + uptimeAhead, wall: world.wall + skew, boot: "boot of \(number)")
    self.clock = clock
    let disk = InMemoryStore()
    store = SimulatedStore(disk, storage, inbox)
    view = PlaceView(records)
    let file = SimulatedKeyFile(key)
    self.file = file
    let provider = SimulatedProvider(.default, issuer: FleetSimulation.issuer, habit: .token, providers)
    let fleet = FleetStore(
      view, fleet: "f", bindings: [.default: provider.binding], pollInterval: FleetSimulation.poll,
      key: { .success(file.key) }, now: { Moment(wall: clock.now, uptime: clock.uptime) }, boot: clock.boot,
      report: { _ in })
    broker = Broker(
      executor: executor,
      profiles: [ProfileSettings(name: .default, provider: provider, rules: rules, records: fleet)], store: store,
      status: disk.statusNow, clock: clock,
      entropy: SimulatedEntropy(seed: UInt64.random(in: 0..<1 << 60, using: &random)), trials: ProviderTrial.self)
  }

  /// Begins, and follows its own events.
  func begin() {
    BrokerLife.begin(broker, store, inbox)
  }

  /// Sets its clock by the world's.
  func set(_ uptime: Duration) { clock.set(uptime: uptime + uptimeAhead) }

  /// When it has something to do next, by the time of the world.
  var nextDeadline: Duration? { isStopped ? nil : clock.nextDeadline.map { $0 - uptimeAhead } }
}
