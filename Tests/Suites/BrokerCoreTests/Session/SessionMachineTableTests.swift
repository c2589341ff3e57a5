import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// The session machine as a complete table: every event in every state.
@Suite(.standardTimeLimit) struct SessionMachineTableTests {
  static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))
  private static let binding = ProviderBinding(type: "scripted")

  private static func later(_ seconds: Int) -> Moment {
    Moment(wall: start.wall + .seconds(seconds), uptime: start.uptime + .seconds(seconds))
  }

  static func record(_ generation: UInt64, _ contents: SessionRecord.Contents? = nil) -> SessionRecord {
    let living = LivingSession(
      tokens: ScriptedProvider.tokens(1, now: start.wall), user: nil, authTime: start.wall, issuedAt: start.wall,
      lastValidatedAt: start.wall)
    return SessionRecord(
      profile: .default, binding: binding, generation: generation, contents: contents ?? .living(living))
  }

  static func demand(
    _ number: UInt64, force: Bool = false, waits: Bool = false, refused: Bool = false, target: TokenTarget? = nil
  ) -> SessionMachine.Event {
    .tokenWanted(
      TokenDemand(
        waiter: CallerID(number), forcesRefresh: force || refused, waitsForLogin: waits, isRefused: refused,
        target: target))
  }

  static func login() -> SessionMachine.Event {
    .loginAccepted(ProviderSession(tokens: ScriptedProvider.tokens(5, now: start.wall), user: nil), method: "password")
  }

  static func success(_ flight: UInt64) -> SessionMachine.Event {
    .refreshSucceeded(flight: flight, ScriptedProvider.tokens(2, now: start.wall), sentAt: start.wall)
  }

  static func failure(_ failure: ProviderFailure) -> SessionMachine.Event {
    .refreshFailed(flight: 1, failure)
  }

  /// A state, how it is come to, at the start or so many seconds later, and when the event of the table happens.
  struct Setting: Sendable, CustomTestStringConvertible {
    let name: String
    let events: [SessionMachine.Event]
    var comesAt = 0
    var time = 0
    var idleTimeout = 0
    var keepAlive = 3600
    var isShared = false
    var testDescription: String { name }
  }

  static let restored = SessionMachine.Event.restored(record(7), intent: nil)
  static let preparing = [restored, demand(1, force: true)]
  private static let sent = preparing + [.intentSaved(flight: 1)]
  private static let saving = sent + [success(1)]

  private static let described = SessionMachine.Event.userDescribed(User(id: "u", name: "A"))

  static let settings: [Setting] = [
    Setting(name: "signed out", events: []),
    Setting(name: "mistrusted", events: [.mistrusted]),
    Setting(name: "signing in", events: [login()]),
    Setting(name: "waiting for a login", events: [demand(1, waits: true)]),
    Setting(name: "ended", events: [.restored(record(7, .ended(.refreshRejected, at: start.wall)), intent: nil)]),
    Setting(
      name: "wanting the user", events: [.restored(record(7, .reauthenticationRequired(at: start.wall)), intent: nil)]),
    Setting(name: "resting", events: [restored]),
    Setting(name: "resting, unused, when a refresh is due", events: [restored], time: 860, keepAlive: 600),
    Setting(name: "left alone", events: [restored, .woken], comesAt: 860, time: 865, keepAlive: 600),
    Setting(name: "resting, used, when a refresh is due", events: [restored, demand(1)], time: 860),
    Setting(name: "resting, after the access token's end", events: [restored], time: 901, keepAlive: 600),
    Setting(name: "resting, after both ends", events: [restored], time: 86_401),
    Setting(name: "resting, after the idle timeout", events: [restored, demand(1)], time: 600, idleTimeout: 600),
    Setting(name: "preparing", events: preparing),
    Setting(name: "sent", events: sent),
    Setting(name: "sent, after the idle timeout", events: sent, time: 600, idleTimeout: 600),
    Setting(name: "saving", events: saving),
    Setting(name: "degraded", events: saving + [.saveFailed(generation: 8)]),
    Setting(name: "being described", events: [restored, described]),
    Setting(name: "backing off", events: sent + [failure(.transient(.networkUnavailable))]),
    Setting(name: "holding back", events: sent + [failure(.outcomeUnknown(.timeout))]),
    Setting(name: "holding back, after the end", events: sent + [failure(.outcomeUnknown(.timeout))], time: 901),
    Setting(name: "preparing, signing in", events: preparing + [login()]),
    Setting(name: "sent, signing in", events: sent + [login()]),
    Setting(name: "answered, signing in", events: sent + [login(), success(1)]),
    Setting(name: "refused, signing in", events: sent + [login(), failure(.sessionEnded(.refreshRejected))]),
  ]

  static let events: [(name: String, event: SessionMachine.Event)] = [
    ("restored", .restored(record(9), intent: nil)), ("mistrusted", .mistrusted), ("login accepted", login()),
    ("saved 8", .saved(generation: 8)), ("saved 1", .saved(generation: 1)), ("saved 99", .saved(generation: 99)),
    ("save 8 failed", .saveFailed(generation: 8)), ("save 1 failed", .saveFailed(generation: 1)),
    ("token wanted", demand(9)), ("new token wanted", demand(9, force: true)),
    ("token or login wanted", demand(9, waits: true)), ("token refused", demand(9, refused: true)),
    ("target wanted", demand(9, target: TokenTarget(audience: "a"))),
    ("used", .used(at: later(500).uptime)), ("waiter left", .waiterLeft(CallerID(1))),
    ("intent saved", .intentSaved(flight: 1)), ("another's intent saved", .intentSaved(flight: 9)),
    ("intent failed", .intentFailed(flight: 1)), ("succeeded", success(1)),
    ("another succeeded", success(9)), ("offline", failure(.transient(.networkUnavailable))),
    ("lost", failure(.outcomeUnknown(.timeout))), ("refused", failure(.sessionEnded(.refreshRejected))),
    ("user wanted", failure(.reauthenticationRequired)),
    ("tokens replaced", .tokensReplaced(ScriptedProvider.tokens(3, now: start.wall), sentAt: start)),
    ("user described", .userDescribed(User(id: "u", name: "B"))),
    ("logout wanted", .logoutWanted(.user)), ("login waits ended", .loginWaitsEnded(BrokerError(.shuttingDown))),
    ("rules changed", .rulesChanged(SessionRules(idleTimeout: .seconds(300), keepAlive: .seconds(3600)))),
    ("network returned", .providerSeen(.reached)), ("clock was set", .clockWasSet), ("woken", .woken),
    ("login demanded", .loginDemanded(StepUp(scopes: ["a"], acrValues: [], maxAge: 60, wantsUser: true))),
  ]

  static func machine(_ setting: Setting) -> SessionMachine {
    var machine = SessionMachine(
      profile: .default, binding: binding,
      rules: SessionRules(idleTimeout: .seconds(setting.idleTimeout), keepAlive: .seconds(setting.keepAlive)),
      tokenID: { _ in "id" })
    machine.isShared = setting.isShared
    for event in setting.events {
      var now = start
      if case .woken = event { now = later(setting.comesAt) }
      _ = machine.handle(event, at: now)
    }
    return machine
  }

  @Test(arguments: settings) func `every event does what the table says`(in setting: Setting) {
    for (name, event) in Self.events {
      var machine = Self.machine(setting)
      let before = machine.summary
      let actions = machine.handle(event, at: Self.later(setting.time)).summary
      sessionTable.check(setting.name, name, actions, before, machine.summary)
    }
    #expect(sessionTable.events(in: setting.name).isSubset(of: Set(Self.events.map(\.name))))
  }

  @Test func `the table knows every setting`() {
    #expect(sessionTable.states == Set(Self.settings.map(\.name)))
  }

  @Test(arguments: settings) func `a machine that is woken when it wants to be comes to rest`(in setting: Setting) {
    var machine = Self.machine(setting)
    var now = Self.later(setting.time)
    var wakes = 0
    while let next = machine.nextWake(at: now), wakes < 1000 {
      let pause = max(next - now.uptime, .zero)
      now = Moment(wall: now.wall + pause, uptime: now.uptime + pause)
      _ = machine.handle(.woken, at: now)
      wakes += 1
      // Whatever it does, or that it does nothing, a second wake-up at the same moment is not wanted for nothing.
      if pause == .zero, machine.nextWake(at: now) == next, !machine.isUnderWay { break }
    }
    #expect(wakes < 1000)
    #expect(machine.nextWake(at: now).map { $0 > now.uptime } ?? true)
  }
}

extension SessionMachine.Phase {
  /// What tables call it.
  var name: String {
    switch self {
    case .signedOut: "signed out"
    case .mistrusted: "mistrusted"
    case .living: "living"
    case .ended(let reason): "ended \(reason.rawValue)"
    case .reauthenticationRequired: "wants the user"
    }
  }
}

extension SessionMachine {
  /// Where it stands, for tables.
  var summary: String {
    let session =
      living.map { "\($0.tokens.accessToken.value.revealedString() ?? "") \(activitySummary)" } ?? phase.name
    var flags = ""
    if isStoreDegraded { flags += ", degraded" }
    if isDescribing { flags += ", described" }
    if isOutcomeUnknown { flags += ", lost" }
    if case .leftAlone = scheduleState { flags += ", left alone" }
    // A generation that is counted from a clock says nothing here.
    return "\(session)\(flags), generation \(generation > 1_000_000 ? "0" : String(generation))"
  }

  private var activitySummary: String {
    switch activity {
    case .resting: "resting"
    case .preparing(let flight): "preparing \(flight)"
    case .refreshing(let flight): "sent \(flight)"
    case .saving(let session, _): "saving \(session.tokens.accessToken.value.revealedString() ?? "")"
    case .backingOff(_, let error): "backing off for \(error.kind.rawValue)"
    case .barred: "barred"
    }
  }

  /// Whether somebody else is to do something next.
  var isUnderWay: Bool {
    switch activity {
    case .preparing, .refreshing, .saving: true
    case .resting, .backingOff, .barred: false
    }
  }
}
