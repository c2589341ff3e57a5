import BrokerCore
import BrokerProtocol
import Records
import Sealing
import SecretMemory
import TestSupport

@testable import Fleet

/// A random life of a fleet, by a seed: real brokers with the real store of a fleet share one session, and everything else
/// is the simulation's.
final class FleetSimulation {
  /// What a run is.
  struct Plan {
    /// The seed of everything.
    var seed: UInt64
    /// How many steps.
    var steps: Int
    /// How many members.
    var members: Int { [2, 3, 2, 4, 3, 8, 2, 5, 3, 2, 4, 20, 2, 3, 5, 50][Int(seed % 16)] }
    /// Whether the place may lose its last writes: in a fifth of the runs.
    var failsOver: Bool { seed % 5 == 4 }
    /// Whether a session that is not used ends: in a seventh of the runs.
    var endsIdle: Bool { seed % 7 == 3 }
  }

  /// A request of a client.
  struct Request {
    /// The member that was asked.
    let member: FleetMember
    let kind: Kind
    /// How many sessions there were.
    let families: Int
    /// The session that it was asked with, where it is a logout.
    var family: Int?

    enum Kind: String { case token, login, logout, report, subscribe }
  }

  /// What was counted, for the report.
  struct Counts {
    var steps = 0, tokens = 0, logins = 0, logouts = 0, refreshes = 0, repeats = 0, deaths = 0, lostForGood = 0
    var conflicts = 0, stops = 0, failovers = 0, alarms = 0, polls = 0, late = 0, known = 0, told = 0
    var rekeys = 0, newKeys = 0

    /// Adds those of another run.
    mutating func add(_ other: Counts) {
      steps += other.steps
      tokens += other.tokens
      logins += other.logins
      logouts += other.logouts
      refreshes += other.refreshes
      repeats += other.repeats
      deaths += other.deaths
      lostForGood += other.lostForGood
      conflicts += other.conflicts
      stops += other.stops
      failovers += other.failovers
      alarms += other.alarms
      polls += other.polls
      late += other.late
      known += other.known
      told += other.told
      rekeys += other.rekeys
      newKeys += other.newKeys
    }
  }

  static let issuer = "a.example"
  static let poll = Duration.seconds(5)
  /// How long the place may take: see `PostgreSQL.patience`.
  static let patienceWithPlace = Duration.seconds(5)
  static let start = Duration.seconds(1000)

  let plan: Plan
  let executor = TurnedExecutor()
  var random: SeededGenerator
  var trace: Trace
  var world = FleetSimulation.start
  var server = SimulatedServer()
  var place: SimulatedPlace
  var members: [FleetMember] = []
  var lives = 0
  var requests: [Int: Request] = [:]
  var requestCount = 0
  var isPlaceDown = false
  var isNetworkDown = false
  var ledger = FleetLedger()
  var counts = Counts()
  let rules: SessionRules
  var keys: FleetKeys

  /// A run that has not begun.
  init(_ plan: Plan, tracing: Bool = false) throws {
    self.plan = plan
    random = SeededGenerator(seed: plan.seed)
    trace = Trace(isOn: tracing)
    try Sealing.initialize()
    // The longer one outlasts several leases.
    server.grace = plan.seed % 3 == 0 ? .seconds(plan.seed % 2 == 0 ? 90 : 300) : .zero
    let idleTimeout = plan.endsIdle ? Duration.seconds(180) : .zero
    rules = SessionRules(rotation: .always, rotationGrace: server.grace, idleTimeout: idleTimeout)
    keys = try FleetKeys()
    place = SimulatedPlace(epoch: 1_700_000_000_000)
    let row = try FleetKey.make(fleet: "f", under: keys.storeKey)
    let write = SharedWrite(row, as: FleetKey.rowName, from: nil, to: 1)
    _ = place.answer(.write([write], isTold: false), at: world)
    try keys.add(row, under: keys.storeKey)
  }

  /// The wall clock of the world.
  var wall: Timestamp { Timestamp(milliseconds: 1_800_000_000_000 + world.milliseconds) }

  /// Makes all steps, and lets everything come to rest at the end.
  func run() throws(Violation) {
    do throws(Violation) {
      for _ in 0..<plan.members { try join() }
      for step in 0..<plan.steps {
        counts.steps += 1
        trace.step = step
        random = SeededGenerator(seed: plan.seed &* 1_000_003 &+ UInt64(step))
        try takeStep()
      }
      trace.step = plan.steps
      try settle()
    } catch {
      var violation = error
      violation.step = trace.step
      throw violation
    }
  }

  /// Starts a member.
  func join() throws(Violation) {
    lives += 1
    let member = FleetMember(lives, executor, world: (world, wall), key: keys.storeKey, rules: rules, &random)
    members.append(member)
    trace.note("member \(lives) begins")
    member.begin()
    try turn()
    try ask(member, .subscribe)
  }

  /// Lets all members go on until they wait for the world outside, and looks at what they have done.
  func turn() throws(Violation) {
    repeat {
      executor.turn()
      for member in members {
        while let call = member.storage.calls.first {
          member.storage.answer(call.number, .done)
          executor.turn()
        }
      }
      for member in members {
        try noteQuestions(of: member)
        for message in member.inbox.takeAll() { try note(message, member) }
      }
    } while executor.turn()
  }

  private func noteQuestions(of member: FleetMember) throws(Violation) {
    if member.records.count > member.last.record {
      for call in member.records.calls where call.number > member.last.record {
        member.asked[call.number] = .init(at: world, answer: nil)
        if call.question.known != nil { counts.polls += 1 }
        try checkKnown(call.question, member)
      }
      member.last.record = member.records.count
    }
    guard member.providers.count > member.last.provider else { return }
    for call in member.providers.calls where call.number > member.last.provider {
      member.sent[call.number] = .init(at: world, answer: nil)
      trace.note("member \(member.number) asks \(call.number): \(call.question.question)")
      if let text = call.question.question.spentToken { try noteSpending(text, call.number, member) }
    }
    member.last.provider = member.providers.count
  }

  private func note(_ message: Inbox.Message, _ member: FleetMember) throws(Violation) {
    switch message {
    case .answered(let number, let answer): try noteAnswered(number, answer)
    case .delivered(let delivery):
      guard case .securityAlert(let alert) = delivery.event.payload else { return }
      switch alert.kind {
      case .storeRolledBack:
        member.alarms.raised += 1
        counts.alarms += 1
      case .storeTampering:
        throw Violation(.generationGrows, "member \(member.number) alerts of \(alert.kind), and nothing was changed")
      // What the provider says of a token that was sent again is judged where it is sent.
      default: break
      }
    case .committed, .refused, .promised, .problem, .reconfigured: break
    }
  }
}
