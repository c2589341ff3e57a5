import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// The refresh machine as a table of states and events.
///
/// The access token of the table ends 900 s after the start, the provider rotates, and has a grace of 60 s where the
/// state's name says so.
@Suite(.standardTimeLimit) struct RefreshMachineTests {
  private static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))

  private static func later(_ seconds: Int) -> Moment {
    Moment(wall: start.wall + .seconds(seconds), uptime: start.uptime + .seconds(seconds))
  }

  private static func terms(
    grace: Int = 0, rotates: Bool = true, isJournaled: Bool? = nil, end: Int? = 900, isRefused: Bool = false,
    isShared: Bool = false
  ) -> RefreshMachine.Terms {
    RefreshMachine.Terms(
      generation: 7, rotates: rotates, isJournaled: isJournaled ?? rotates, grace: .seconds(grace),
      accessEnd: end.map { Deadline(wall: later($0).wall, uptime: later($0).uptime) }, isAccessTokenRefused: isRefused,
      isShared: isShared)
  }

  /// A state, how it is come to, when the event of the table happens, and under which terms.
  struct Setting: Sendable, CustomTestStringConvertible {
    let name: String
    let events: [RefreshMachine.Event]
    var time = 10
    var terms = RefreshMachineTests.terms()
    var testDescription: String { name }
  }

  private static let lost = RefreshMachine.Event.failed(flight: 1, .outcomeUnknown(.timeout), jitter: 1)
  private static let offline = RefreshMachine.Event.failed(flight: 1, .transient(.networkUnavailable), jitter: 1)
  private static let busy = RefreshMachine.Event.failed(
    flight: 1, .transient(.providerUnavailable, retryAfter: .seconds(30)), jitter: 1)
  private static let proofWanted = ProviderFailure.transient(.providerUnavailable, cause: .proofWanted)
  private static let spent: [RefreshMachine.Event] = [.wanted, .intentSaved(flight: 1)]

  private static let awaiting: [RefreshMachine.Event] = [.wanted, .intentHeld(flight: 1, for: .seconds(30))]
  private static let found = RefreshMachine.Event.intentFound(startedAt: start.wall)

  private static let settings: [Setting] = [
    Setting(name: "resting", events: []),
    Setting(name: "resting without rotation", events: [], terms: terms(rotates: false)),
    Setting(name: "resting, seen not to rotate", events: [], terms: terms(rotates: false, isJournaled: true)),
    Setting(name: "sent, seen not to rotate", events: spent, terms: terms(rotates: false, isJournaled: true)),
    Setting(name: "preparing", events: [.wanted]),
    Setting(name: "awaiting another", events: awaiting, time: 10),
    Setting(name: "awaiting another, after its lease", events: awaiting, time: 30),
    Setting(
      name: "awaiting another, lost", events: [.wanted, .intentHeld(flight: 1, for: .seconds(30)), .settled, found],
      time: 901, terms: terms(isShared: true)),
    Setting(name: "sent", events: spent),
    Setting(name: "sent without rotation", events: [.wanted], terms: terms(rotates: false)),
    Setting(name: "sent, with a grace", events: spent, terms: terms(grace: 60)),
    Setting(name: "saving", events: spent + [.succeeded(flight: 1)]),
    Setting(name: "backing off from the network", events: spent + [offline], time: 0),
    Setting(name: "backing off from the network, for long enough", events: spent + [offline]),
    Setting(name: "backing off from the provider", events: spent + [busy]),
    Setting(name: "holding back", events: spent + [lost]),
    Setting(name: "holding back, after the end", events: spent + [lost], time: 901),
    Setting(name: "preparing a replay", events: spent + [lost], terms: terms(grace: 60)),
    Setting(
      name: "sent as a replay", events: spent + [lost, .intentSaved(flight: 2)], terms: terms(grace: 60)),
    Setting(
      name: "sent after the end", events: spent + [lost, .providerSeen(.reached), .wanted], terms: terms(end: 0)),
    Setting(
      name: "barred",
      events: (1...20 as ClosedRange<UInt64>).flatMap {
        [.wanted, .intentSaved(flight: $0), .succeeded(flight: $0), .settled] as [RefreshMachine.Event]
      } + [.wanted]),
    Setting(
      name: "holding back a refused token", events: spent + [lost], terms: terms(isRefused: true)),
  ]

  /// The flight of the state is the first or the second; the ninth is nobody's.
  private static let events: [(name: String, event: RefreshMachine.Event)] =
    [
      ("wanted", .wanted), ("intent found", .intentFound(startedAt: start.wall)),
      ("another's intent saved", .intentSaved(flight: 9)),
      ("another's intent failed", .intentFailed(flight: 9, jitter: 1)),
      ("another's intent held", .intentHeld(flight: 9, for: .seconds(30))),
      ("another cancelled", .cancelled(flight: 9)), ("another succeeded", .succeeded(flight: 9)),
      ("another not granted", .notGranted(flight: 9)),
      ("another failed", .failed(flight: 9, .sessionEnded(.refreshRejected), jitter: 1)), ("replaced", .replaced),
      ("settled", .settled), ("ended", .ended), ("network returned", .providerSeen(.reached)),
      ("wanted for a target", .wantedForTarget), ("began", .began),
      ("no room for another", .noRoom(flight: 9, jitter: 1)), ("provider serves", .providerSeen(.serving)),
      ("client accepted", .providerSeen(.accepting)), ("reconfigured", .reconfigured),
    ]
    + [1, 2].flatMap { (flight: UInt64) -> [(String, RefreshMachine.Event)] in
      [
        ("\(flight) intent saved", .intentSaved(flight: flight)),
        ("\(flight) intent failed", .intentFailed(flight: flight, jitter: 1)),
        ("\(flight) intent held", .intentHeld(flight: flight, for: .seconds(30))),
        ("\(flight) cancelled", .cancelled(flight: flight)), ("\(flight) succeeded", .succeeded(flight: flight)),
        (
          "\(flight) refused",
          .failed(flight: flight, .sessionEnded(.refreshRejected, alert: .refreshTokenReuse), jitter: 1)
        ),
        ("\(flight) wants the user", .failed(flight: flight, .reauthenticationRequired, jitter: 1)),
        (
          "\(flight) busy",
          .failed(flight: flight, .transient(.providerUnavailable, retryAfter: .seconds(30)), jitter: 1)
        ),
        ("\(flight) offline", .failed(flight: flight, .transient(.networkUnavailable), jitter: 1)),
        ("\(flight) misconfigured", .failed(flight: flight, .misconfigured(.client), jitter: 1)),
        ("\(flight) not granted", .notGranted(flight: flight)),
        ("\(flight) no room", .noRoom(flight: flight, jitter: 1)),
        (
          "\(flight) behind a gateway",
          .failed(flight: flight, .outcomeUnknown(.providerUnavailable, retryAfter: .seconds(30)), jitter: 1)
        ),
        ("\(flight) lost", .failed(flight: flight, .outcomeUnknown(.timeout), jitter: 1)),
        ("\(flight) wants a proof", .failed(flight: flight, proofWanted, jitter: 1)),
      ]
    }

  private static func machine(_ setting: Setting) -> RefreshMachine {
    var machine = RefreshMachine(profile: .default)
    for event in setting.events { _ = machine.handle(event, setting.terms, at: start) }
    return machine
  }

  @Test(arguments: settings) func `every event does what the table says`(in setting: Setting) {
    for (name, event) in Self.events {
      var machine = Self.machine(setting)
      let before = machine.summary(since: Self.start)
      let actions = machine.handle(event, setting.terms, at: Self.later(setting.time)).map(\.summary)
      refreshTable.check(setting.name, name, actions, before, machine.summary(since: Self.start))
    }
    #expect(refreshTable.events(in: setting.name).isSubset(of: Set(Self.events.map(\.name))))
  }

  @Test func `a replay whose grace has passed is not sent while the access token lives`() {
    var machine = RefreshMachine(profile: .default)
    let terms = Self.terms(grace: 60)
    for event in Self.spent { _ = machine.handle(event, terms, at: Self.start) }
    _ = machine.handle(Self.lost, terms, at: Self.later(1))
    _ = machine.handle(.intentSaved(flight: 2), terms, at: Self.later(1))
    // It never left, so it may be sent once more; but the grace passes before anyone wants a token.
    _ = machine.handle(.failed(flight: 2, .transient(.networkUnavailable), jitter: 1), terms, at: Self.later(2))
    let actions = machine.handle(.wanted, terms, at: Self.later(100)).map(\.summary)
    #expect(actions == ["refuse refreshOutcomeUnknown for 800"])
    #expect(machine.summary(since: Self.start) == "holding back, lost")
  }

  @Test func `a token is sent again a few times for its proof, each with an intent of its own`() {
    var machine = RefreshMachine(profile: .default)
    let terms = Self.terms()
    for event in Self.spent { _ = machine.handle(event, terms, at: Self.start) }
    for flight in 1...3 as ClosedRange<UInt64> {
      let actions = machine.handle(.failed(flight: flight, Self.proofWanted, jitter: 1), terms, at: Self.later(1))
      #expect(actions.map(\.summary) == ["close", "open \(flight + 1) of 7"])
      #expect(
        machine.handle(.intentSaved(flight: flight + 1), terms, at: Self.later(1)).map(\.summary) == [
          "send \(flight + 1)"
        ])
    }
    let last = machine.handle(.failed(flight: 4, Self.proofWanted, jitter: 1), terms, at: Self.later(1)).map(\.summary)
    #expect(last == ["close", "report providerUnavailable"])
    #expect(machine.summary(since: Self.start) == "backing off until 2 for providerUnavailable")
    // The next flight has as many.
    _ = machine.handle(.wanted, terms, at: Self.later(10))
    _ = machine.handle(.intentSaved(flight: 5), terms, at: Self.later(10))
    let again = machine.handle(.failed(flight: 5, Self.proofWanted, jitter: 1), terms, at: Self.later(10)).map(
      \.summary)
    #expect(again == ["close", "open 6 of 7"])
  }

  @Test func `the table knows every setting`() {
    #expect(refreshTable.states == Set(Self.settings.map(\.name)))
  }
}

extension RefreshMachine {
  /// Where it stands, for tables.
  func summary(since start: Moment) -> String {
    let what =
      switch state {
      case .resting: "resting"
      case .preparing(let flight): "preparing \(flight)"
      case .sent(let flight, _): "sent \(flight)"
      case .saving: "saving"
      case .awaitingOther(let until): "awaiting another until \((until - start.uptime).components.seconds)"
      case .backingOff(let until, let error, _):
        "backing off until \((until - start.uptime).components.seconds) for \(error.kind.rawValue)"
      case .barred(let until, let error):
        "barred until \((until - start.uptime).components.seconds) for \(error.kind.rawValue)"
      case .holdingBack: "holding back"
      }
    guard let lost else { return what }
    return what + (lost.isReplayed ? ", lost and replayed" : ", lost")
  }
}

extension RefreshMachine.Action {
  /// The action as words, for tables.
  var summary: String {
    switch self {
    case .openIntent(let flight, let intent):
      "open \(flight) of \(intent.generation)\(intent.startedAt.milliseconds == 0 ? " as replayed" : "")"
    case .closeIntent: "close"
    case .send(let flight): "send \(flight)"
    case .refuse(let error): "refuse \(error.kind.rawValue) for \(error.retryAfter?.components.seconds ?? -1)"
    case .showEnd: "show the end"
    case .report(let error, let next): "report \(error.kind.rawValue)\(next == nil ? " for good" : "")"
    case .end(let reason, let alert, let wantsUser, _):
      "end \(reason.rawValue)\(alert.map { " \($0.rawValue)" } ?? "")\(wantsUser ? " to see the user" : "")"
    }
  }
}
