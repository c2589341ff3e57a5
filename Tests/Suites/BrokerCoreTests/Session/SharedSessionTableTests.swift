import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// A session that other brokers have as well: what they do in every state, and every event while one of them may be
/// refreshing it.
@Suite(.standardTimeLimit) struct SharedSessionTableTests {
  private typealias Table = SessionMachineTableTests

  private static let awaiting = Table.preparing + [.intentHeld(flight: 1, for: .seconds(30))]
  private static let doubted = [Table.restored, .replacedElsewhere(Table.record(7), intent: intent)]
  private static let intent = RefreshIntent(
    profile: .default, generation: 7, startedAt: Table.start.wall + .seconds(-5), isAnothers: true)

  private static let own: [Table.Setting] = [
    Table.Setting(name: "awaiting another", events: awaiting),
    Table.Setting(name: "awaiting another, after its lease", events: awaiting, time: 30),
    Table.Setting(name: "awaiting another, after the access token's end", events: awaiting, time: 901),
    Table.Setting(name: "perhaps spent by another", events: doubted),
    Table.Setting(name: "perhaps spent by another, after the access token's end", events: doubted, time: 901),
  ]

  /// At rest a session is at rest whatever the time is, and whatever is said of its user.
  private static let others = Table.settings.filter {
    !$0.name.hasPrefix("resting,") && !["left alone", "being described"].contains($0.name)
  }

  private static let settings = (others + own).map { setting in
    var setting = setting
    setting.isShared = true
    return setting
  }

  /// A record of another broker's, with tokens that are not the present ones.
  private static func record(_ generation: UInt64, _ number: Int, isLogin: Bool = false) -> SessionRecord {
    var session = LivingSession(
      tokens: ScriptedProvider.tokens(number, now: Table.start.wall), user: nil, authTime: Table.start.wall,
      issuedAt: Table.start.wall, lastValidatedAt: Table.start.wall)
    if isLogin { session.authTime = session.authTime + .seconds(1) }
    return Table.record(generation, .living(session))
  }

  private static let news: [(name: String, event: SessionMachine.Event)] = [
    ("intent held", .intentHeld(flight: 1, for: .seconds(30))),
    ("another's intent held", .intentHeld(flight: 9, for: .seconds(30))),
    ("refreshed elsewhere", .replacedElsewhere(record(8, 4))),
    ("target refreshed elsewhere", .replacedElsewhere(record(8, 1))),
    ("refreshed and perhaps spent elsewhere", .replacedElsewhere(record(8, 4), intent: intent)),
    ("logged in elsewhere", .replacedElsewhere(record(9, 4, isLogin: true))),
    ("ended elsewhere", .replacedElsewhere(Table.record(9, .ended(.refreshRejected, at: Table.start.wall)))),
    ("user wanted elsewhere", .replacedElsewhere(Table.record(9, .reauthenticationRequired(at: Table.start.wall)))),
    ("signed out elsewhere", .replacedElsewhere(Table.record(9, .signedOut(at: Table.start.wall)))),
    ("perhaps spent elsewhere", .replacedElsewhere(Table.record(7), intent: intent)),
    ("nothing new elsewhere", .replacedElsewhere(Table.record(7))),
    ("an older record", .replacedElsewhere(record(6, 4))),
  ]

  @Test(arguments: settings) func `every event does what the table says`(in setting: SessionMachineTableTests.Setting) {
    let isOwn = Self.own.contains { $0.name == setting.name }
    for (name, event) in isOwn ? Self.news + Table.events : Self.news {
      var machine = Table.machine(setting)
      let before = machine.summary
      let now = Moment(
        wall: Table.start.wall + .seconds(setting.time), uptime: Table.start.uptime + .seconds(setting.time))
      let actions = machine.handle(event, at: now).summary
      sharedSessionTable.check(setting.name, name, actions, before, machine.summary)
    }
    #expect(sharedSessionTable.events(in: setting.name).isSubset(of: Set((Self.news + Table.events).map(\.name))))
  }

  @Test func `the table knows every setting`() {
    #expect(sharedSessionTable.states == Set(Self.settings.map(\.name)))
  }

  @Test(arguments: settings)
  func `no token that another broker has replaced is ever sent`(in setting: SessionMachineTableTests.Setting) {
    var machine = Table.machine(setting)
    let now = Moment(
      wall: Table.start.wall + .seconds(setting.time), uptime: Table.start.uptime + .seconds(setting.time))
    var waiting = machine.handle(.replacedElsewhere(Self.record(20, 4)), at: now)
    waiting += machine.handle(Table.demand(9, force: true), at: now)
    for event in [.saveFailed(generation: 8), .saveFailed(generation: 1), .saveFailed(generation: 9)]
      + Table.events.map(\.event).filter({ if case .intentSaved = $0 { true } else { false } })
      + (1...3 as ClosedRange<UInt64>).map({ SessionMachine.Event.intentSaved(flight: $0) })
    { waiting += machine.handle(event, at: now) }
    let sent = waiting.summary.filter { $0.hasPrefix("spend") }
    #expect(sent.allSatisfy { $0.hasSuffix("refresh-4") }, "\(waiting.summary)")
  }
}
