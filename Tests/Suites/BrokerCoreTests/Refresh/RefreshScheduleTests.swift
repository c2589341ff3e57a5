import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// The schedule of background refreshes as a table of states and events, and the moments that it draws.
@Suite(.standardTimeLimit) struct RefreshScheduleTests {
  private static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))

  private static func later(_ seconds: Int) -> Moment {
    Moment(wall: start.wall + .seconds(seconds), uptime: start.uptime + .seconds(seconds))
  }

  private static func deadline(_ seconds: Int) -> Deadline {
    Deadline(wall: later(seconds).wall, uptime: later(seconds).uptime)
  }

  private static let states = ["off", "planned", "leftAlone"]

  private static func schedule(_ state: String) -> RefreshSchedule {
    var schedule = RefreshSchedule()
    if state == "off" { return schedule }
    _ = schedule.handle(.tokensTaken(due: deadline(700)), at: start)
    if state == "leftAlone" { _ = schedule.handle(.woken(isInUse: false), at: later(700)) }
    return schedule
  }

  private static let events: [(name: String, event: RefreshSchedule.Event, time: Int)] = [
    ("tokens", .tokensTaken(due: deadline(900)), 710), ("tokens that are not refreshed", .tokensTaken(due: nil), 710),
    ("use", .used, 710), ("early wake", .woken(isInUse: true), 699), ("wake in use", .woken(isInUse: true), 700),
    ("wake unused", .woken(isInUse: false), 700), ("early wake unused", .woken(isInUse: false), 699),
    ("end", .ended, 710),
  ]

  private static let table = StateTable(
    """
    off
      tokens: → planned 900
    planned
      tokens: → planned 900
      tokens that are not refreshed: → off
      wake in use: refresh
      wake unused: → leftAlone 700
      end: → off
    leftAlone
      tokens: → planned 900
      tokens that are not refreshed: → off
      use: → planned 700
      end: → off
    """)

  private static func describe(_ schedule: RefreshSchedule) -> String {
    switch schedule.state {
    case .off: "off"
    case .planned(let due): "planned \((due.uptime - start.uptime).components.seconds)"
    case .leftAlone(let due): "leftAlone \((due.uptime - start.uptime).components.seconds)"
    }
  }

  @Test(arguments: states) func `every event does what the table says`(in state: String) {
    for (name, event, time) in Self.events {
      var schedule = Self.schedule(state)
      let before = Self.describe(schedule)
      let actions = schedule.handle(event, at: Self.later(time)).map { _ in "refresh" }
      Self.table.check(state, name, actions, before, Self.describe(schedule))
    }
    #expect(Self.table.events(in: state).isSubset(of: Set(Self.events.map(\.name))))
  }

  @Test func `the moment comes by whichever clock is ahead`() {
    var schedule = Self.schedule("planned")
    let forward = Moment(wall: Self.later(5000).wall, uptime: Self.later(1).uptime)
    #expect(schedule.nextWake(at: forward) == Self.later(1).uptime - .seconds(4300))
    #expect(schedule.handle(.woken(isInUse: true), at: forward) == [.refresh])
    let back = Moment(wall: Self.later(-5000).wall, uptime: Self.later(699).uptime)
    #expect(schedule.nextWake(at: back) == Self.later(700).uptime)
  }

  /// When a token of a machine is refreshed, in seconds of its life.
  private func due(
    life: Int, refreshLife: Int? = 86400, skew: Int = 30, jitter: Double, inBackground: Bool = true
  ) -> Int64? {
    var machine = SessionMachine(
      profile: .default, binding: ProviderBinding(type: "scripted"),
      rules: SessionRules(expiry: ExpiryPolicy(skew: .seconds(skew), refreshesInBackground: inBackground)),
      tokenID: { _ in "" })
    var tokens = ScriptedProvider.tokens(1, now: Self.start.wall, lifetime: .seconds(life))
    tokens.refreshTokenExpiresAt = refreshLife.map { Self.start.wall + .seconds($0) }
    let session = ProviderSession(tokens: tokens, user: nil)
    _ = machine.handle(.loginAccepted(session, method: "password"), at: Self.start)
    _ = machine.handle(.saved(generation: 1), at: Self.start, jitter: jitter)
    guard case .planned(let due) = machine.scheduleState else { return nil }
    return (due.uptime - Self.start.uptime).components.seconds
  }

  @Test func `a refresh is due between 75 and 85 percent of a life, as the jitter says`() {
    #expect(due(life: 1000, jitter: 0) == 750)
    #expect(due(life: 1000, jitter: 0.5) == 800)
    #expect(due(life: 1000, jitter: 1) == 850)
    #expect(due(life: 1000, jitter: 7) == 850)
    #expect(due(life: 1000, jitter: -7) == 750)
  }

  @Test func `a refresh is never later than the skew before the end`() {
    #expect(due(life: 100, jitter: 1) == 70)
    #expect(due(life: 1000, skew: 400, jitter: 1) == 600)
  }

  @Test func `a token that hardly outlives the skew is not refreshed all the time`() {
    #expect(due(life: 31, jitter: 0) == 23)
    #expect(due(life: 50, skew: 40, jitter: 0) == 10)
    #expect(due(life: 50, skew: 41, jitter: 0) == 37)
    #expect(due(life: 30, jitter: 0) == 22)
    #expect(due(life: 4, jitter: 0) == 3)
  }

  @Test func `a refresh token that ends first is renewed when about two thirds of its life are over`() {
    #expect(due(life: 900, refreshLife: 900, jitter: 0) == 567)
    #expect(due(life: 900, refreshLife: 900, jitter: 1) == 630)
    #expect(due(life: 60, refreshLife: 25, jitter: 0.5) == 16)
    #expect(due(life: 900, refreshLife: 1100, jitter: 0) == 675)
    #expect(due(life: 900, refreshLife: nil, jitter: 0) == 675)
  }

  @Test func `nothing is planned where it is not wanted`() {
    #expect(due(life: 900, jitter: 0, inBackground: false) == nil)
  }
}
