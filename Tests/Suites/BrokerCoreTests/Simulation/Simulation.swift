import BrokerCore
import BrokerProtocol
import TestSupport

/// A random life of the real broker, by a seed: callers, providers, disks, clocks and crashes are the simulation's.
///
/// After each step everything that can go on without the world outside has gone on, and every rule is checked. Each step
/// draws from numbers of its own, so that the others stay as they are when one is left out.
final class Simulation {
  /// What a run is.
  struct Plan {
    /// The seed of everything.
    var seed: UInt64
    /// How many steps.
    var steps: Int
    /// The steps that are left out.
    var skipped: Set<Int> = []
    /// Whether providers end all of a user's sessions with one of them: in a third of the runs.
    var endsWholeGrants: Bool { seed % 3 == 0 }
    /// Whether another broker has the session of the default profile as well: in a quarter of the runs.
    var isShared: Bool { seed % 4 == 1 }
  }

  let plan: Plan
  let executor = TurnedExecutor()
  let disk = InMemoryStore()
  /// What the broker shares with another one.
  let sharedDisk = SharedDisk()
  /// The other broker.
  var other = OtherBroker.resting
  let entropy: SimulatedEntropy
  /// The numbers of the present step.
  var random: SeededGenerator
  /// What has happened, where somebody wants to read it.
  var trace: Trace
  /// The truth at the provider.
  var server = SimulatedServer()
  /// The present life of the broker.
  var life: BrokerLife
  /// The profiles as they are configured.
  var profiles: [BrokerLife.Profile]
  /// The profiles as they were configured before.
  var profilesBefore: [BrokerLife.Profile] = []
  /// What goes wrong at present.
  var weather = Weather()
  /// What is the matter with providers at present, by their issuer.
  var outages: [String: Outage] = [:]
  /// What the broker can know of providers.
  var learnt = Learnt()
  /// What the broker has asked providers, and when.
  var sent: [Int: Sent] = [:]
  /// The last question that was looked at.
  var lastQuestion = 0
  /// Which refresh tokens were sent, and what the broker knows of that.
  var spending = SpendingLedger()
  /// What has become durable.
  var durable = DurableLedger()
  /// Requests, by their numbers.
  var requests: [Int: Request] = [:]
  /// How many requests there were.
  var requestCount = 0
  /// Which requests have changed what is expected.
  var wishes = Wishes()
  /// The newest token that any caller has seen, for each profile and target.
  var shown: [Purpose: SimulatedServer.Token] = [:]
  /// The life in which each token was given first.
  var givenIn: [String: Int] = [:]
  /// Access tokens that a server has refused, by the life of the broker that was told: they count as ended.
  var refusedIn: [String: Int] = [:]
  /// When a client last wanted something of each profile that may cost a refresh of its own.
  var eagerAt: [ProfileName: Duration] = [:]
  /// How often the machine was started again.
  var boots = 0
  /// When a client last got a token of each profile.
  var lastUse: [ProfileName: SimulatedServer.Sending] = [:]
  /// The shortest time without use after which a session of each profile may have ended.
  var shortestIdleTimeouts: [ProfileName: Duration] = [:]
  /// Sessions before this one may be ended at the provider: somebody has wanted that, whatever became of it.
  var revocable: [ProfileName: Int] = [:]
  /// Who is told of events.
  var subscribers: [Subscriber] = []
  /// Every event that was told to somebody.
  var told: [BrokerEvent] = []
  /// What was counted, for the report.
  var counts = Counts()
  /// Whether the broker is about to end in order.
  var isStopping = false

  /// A run that has not begun.
  init(_ plan: Plan, tracing: Bool = false) {
    self.plan = plan
    random = SeededGenerator(seed: plan.seed)
    entropy = SimulatedEntropy(seed: plan.seed &+ 1)
    trace = Trace(isOn: tracing)
    profiles = ["default", "work"].compactMap(ProfileName.init).map {
      BrokerLife.Profile(
        name: $0, endsWholeGrants: plan.endsWholeGrants, isShared: plan.isShared && $0 == .default)
    }
    server.endsWholeGrants = plan.endsWholeGrants
    let clock = SimulatedClock(uptime: .seconds(1000), wall: Timestamp(milliseconds: 1_800_000_000_000))
    life = BrokerLife(1, profiles, disk, sharedDisk, executor, clock, entropy, asked: (0, 0))
  }

  /// Makes all steps, and lets everything come to rest in the middle and at the end.
  func run() throws(Violation) {
    do throws(Violation) {
      try begin()
      for step in 0..<plan.steps where !plan.skipped.contains(step) {
        counts.steps += 1
        trace.step = step
        random = SeededGenerator(seed: plan.seed &* 1_000_003 &+ UInt64(step))
        try take(chooseStep())
        try check()
      }
      trace.step = plan.steps
      try settle()
    } catch {
      var violation = error
      violation.step = trace.step
      throw violation
    }
  }

  /// Lets the broker go on until it waits for the world outside, and looks at what it has done.
  func turn() throws(Violation) {
    repeat {
      executor.turn()
      let messages = life.inbox.takeAll()
      // What a provider is asked may follow from what has just become durable.
      for message in messages where message.isOfStore { try note(message) }
      try noteQuestions()
      for message in messages where !message.isOfStore { try note(message) }
    } while executor.turn()
    if life.storage.isIdle { weather.jumpsBeforeRecord = weather.jumps }
  }

  private func note(_ message: Inbox.Message) throws(Violation) {
    switch message {
    case .committed(let steps): try noteCommitted(steps)
    case .refused(let steps, let isDurable): noteRefused(steps, isDurable: isDurable)
    case .promised(let sequence): durable.promised = max(durable.promised, sequence)
    case .delivered(let delivery): try noteDelivered(delivery)
    case .answered(let number, let answer): try noteAnswered(number, answer)
    case .problem(let problem): trace.note("problem: \(problem)")
    case .reconfigured(let failure):
      wishes.reconfigurations -= 1
      if failure != nil { profiles = profilesBefore }
      trace.note("reconfigured: \(failure.map { "\($0)" } ?? "done")")
    }
  }

  /// What the broker says of a profile now; nil for one that is not configured.
  func session(_ profile: ProfileName) -> Session? {
    life.broker.assumeIsolated { try? $0.session(profile, for: .broker).session }
  }

  /// When something is sent now.
  var sending: SimulatedServer.Sending {
    SimulatedServer.Sending(
      uptime: life.clock.uptime, wall: life.clock.now, jumps: weather.jumps, asked: life.clock.uptime,
      boot: life.clock.boot)
  }
}

extension Simulation {
  /// What a token is for.
  struct Purpose: Hashable {
    /// Whose session it is of.
    var profile: ProfileName
    /// Nil for the session's own.
    var target: TokenTarget?
  }

  /// What goes wrong at present.
  struct Weather {
    /// Whether providers cannot be reached.
    var isNetworkDown = false
    /// Whether the disk refuses everything.
    var isDiskFull = false
    /// How often the wall clock was set.
    var jumps = 0
    /// How often it was at least, by the time that the next record to become durable was made.
    var jumpsBeforeRecord = 0
    /// Whether any write has failed so far.
    var hasDiskFailed = false
  }

  /// A question on its way to a provider.
  struct Sent {
    /// When it was sent.
    let sending: SimulatedServer.Sending
    /// What the provider has answered already, if it was reached.
    var answer: ProviderAnswer?
  }

  /// Which requests have changed what is expected.
  struct Wishes {
    /// Profiles that nobody has logged in to since they were logged out.
    var signedOut: Set<ProfileName> = []
    /// Profiles that were logged out in this life, with the number of the first session that can be a later one.
    var logouts: [ProfileName: Int] = [:]
    /// Profiles whose session may have ended in this life with the whole grant of another one's.
    var examined: Set<ProfileName> = []
    /// Profiles that were bound to another place in this life.
    var moved: Set<ProfileName> = []
    /// Whether the vault was locked, and nobody has unlocked it since.
    var isLocked = false
    /// How many configurations are being taken up.
    var reconfigurations = 0
  }

  /// What was counted, for the report.
  struct Counts {
    var steps = 0, lives = 0, requests = 0, tokens = 0, refreshes = 0, events = 0, lostForGood = 0
    var otherTokens = 0, otherFlights = 0, doubts = 0
    var capped = 0, paced = 0, keptAlive = 0, expired = 0, stops = 0, awaited = 0
    var elsewhere = 0, held = 0, takenOver = 0

    /// Adds those of another run.
    mutating func add(_ other: Self) {
      steps += other.steps
      lives += other.lives
      requests += other.requests
      tokens += other.tokens
      refreshes += other.refreshes
      events += other.events
      lostForGood += other.lostForGood
      otherTokens += other.otherTokens
      otherFlights += other.otherFlights
      doubts += other.doubts
      capped += other.capped
      paced += other.paced
      keptAlive += other.keptAlive
      expired += other.expired
      stops += other.stops
      awaited += other.awaited
      elsewhere += other.elsewhere
      held += other.held
      takenOver += other.takenOver
    }
  }
}
