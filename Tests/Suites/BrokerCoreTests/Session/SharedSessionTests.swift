import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// How a session machine keeps in step with other brokers that have its session.
@Suite(.standardTimeLimit) struct SharedSessionTests {
  private typealias Table = SessionMachineTableTests

  private static func later(_ seconds: Int) -> Moment {
    Moment(wall: Table.start.wall + .seconds(seconds), uptime: Table.start.uptime + .seconds(seconds))
  }

  /// A machine that has just asked for the lease, for a caller who insists on a new token.
  private static func asking() -> SessionMachine {
    Table.machine(SessionMachineTableTests.Setting(name: "", events: Table.preparing, isShared: true))
  }

  private static func refreshed(_ generation: UInt64, _ number: Int, at seconds: Int) -> SessionRecord {
    let wall = later(seconds).wall
    return Table.record(
      generation,
      .living(
        LivingSession(
          tokens: ScriptedProvider.tokens(number, now: wall), user: nil, authTime: Table.start.wall, issuedAt: wall,
          lastValidatedAt: wall)))
  }

  @Test func `while another broker has the lease the living token is served, and is not called offline`() {
    var machine = Self.asking()
    #expect(machine.handle(.intentHeld(flight: 1, for: .seconds(30)), at: Self.later(1)).isEmpty)
    #expect(machine.handle(Table.demand(2), at: Self.later(2)).summary == ["token 2"])
    #expect(!machine.isOffline)
    // A token that must live for longer than this one is served from this one, too.
    let demand = TokenDemand(waiter: CallerID(3), minValidity: .seconds(600))
    #expect(machine.handle(.tokenWanted(demand), at: Self.later(400)).summary != [])
  }

  @Test func `it asks again at the end of the lease, and not before`() {
    var machine = Self.asking()
    _ = machine.handle(.intentHeld(flight: 1, for: .seconds(30)), at: Self.later(1))
    #expect(machine.nextWake(at: Self.later(2)) == Self.later(31).uptime)
    #expect(machine.handle(.woken, at: Self.later(30)).isEmpty)
    #expect(machine.handle(.woken, at: Self.later(31)).summary == ["openIntent 2 of 7"])
  }

  @Test func `waiting for another broker does not wear out the breaker`() {
    var machine = Self.asking()
    for flight in 1...40 as ClosedRange<UInt64> {
      let second = Int(flight)
      _ = machine.handle(.intentHeld(flight: flight, for: .seconds(1)), at: Self.later(second))
      #expect(machine.handle(.woken, at: Self.later(second + 1)).summary == ["openIntent \(flight + 1) of 7"])
    }
  }

  @Test func `what another broker's refresh has brought answers those who wait, and is what is sent next`() {
    var machine = Self.asking()
    _ = machine.handle(.intentHeld(flight: 1, for: .seconds(30)), at: Self.later(1))
    let actions = machine.handle(.replacedElsewhere(Self.refreshed(8, 4, at: 5)), at: Self.later(5))
    #expect(actions.summary == ["publish tokenRefreshed", "token 1"])
    #expect(machine.handle(Table.demand(2, force: true), at: Self.later(6)).summary == ["openIntent 2 of 8"])
    #expect(machine.handle(.intentSaved(flight: 2), at: Self.later(6)).summary == ["spend 2 refresh-4"])
  }

  @Test func `an answer that comes after another broker has gone on changes nothing`() {
    var machine = Self.asking()
    _ = machine.handle(.intentSaved(flight: 1), at: Self.later(1))
    _ = machine.handle(.replacedElsewhere(Self.refreshed(8, 4, at: 50)), at: Self.later(50))
    #expect(machine.handle(Table.success(1), at: Self.later(51)).isEmpty)
    #expect(machine.handle(Table.failure(.sessionEnded(.refreshRejected)), at: Self.later(51)).isEmpty)
    #expect(
      machine.living?.tokens.accessToken.value == ScriptedProvider.tokens(4, now: Self.later(50).wall).accessToken.value
    )
  }

  @Test func `a lease that has run out is a lost reply: its token is sent when nothing can be lost, and under a lease`()
  {
    var machine = Self.asking()
    _ = machine.handle(.intentHeld(flight: 1, for: .seconds(30)), at: Self.later(1))
    let intent = RefreshIntent(
      profile: .default, generation: 7, startedAt: Table.start.wall + .seconds(-5), isAnothers: true)
    let found = machine.handle(.replacedElsewhere(Table.record(7), intent: intent), at: Self.later(31))
    #expect(found.summary == ["error 1 refreshOutcomeUnknown"])
    #expect(machine.handle(Table.demand(2), at: Self.later(32)).summary == ["offline token 2"])
    let actions = machine.handle(Table.demand(3), at: Self.later(901))
    #expect(actions.summary == ["openIntent 2 of 7"])
    guard case .openIntent(_, let taken)? = actions.first else { return }
    #expect(taken.followsLostReply)
  }

  @Test(arguments: [true, false])
  func `a token whose reply was lost is sent again by one broker inside the grace`(_ isSentByOther: Bool) {
    var machine = Self.asking()
    let rules = SessionRules(rotation: .always, rotationGrace: .seconds(90))
    _ = machine.handle(.rulesChanged(rules), at: Self.later(1))
    _ = machine.handle(.intentSaved(flight: 1), at: Self.later(1))
    #expect(
      machine.handle(Table.failure(.outcomeUnknown(.timeout)), at: Self.later(2)).summary == ["openIntent 2 of 7"])
    _ = machine.handle(.intentHeld(flight: 2, for: .seconds(40)), at: Self.later(2))
    let intent = RefreshIntent(
      profile: .default, generation: 7, startedAt: Timestamp(milliseconds: 0), isAnothers: isSentByOther)
    _ = machine.handle(.replacedElsewhere(Table.record(7), intent: intent), at: Self.later(43))
    let actions = machine.handle(Table.demand(2, force: true), at: Self.later(44)).summary
    #expect(
      actions
        == (isSentByOther ? ["error 1 refreshOutcomeUnknown", "error 2 refreshOutcomeUnknown"] : ["openIntent 3 of 7"]))
    // Once nothing can be lost any more the intent says what is known.
    guard case .openIntent(_, let taken)? = machine.handle(Table.demand(3), at: Self.later(901)).first else { return }
    #expect(isSentByOther && taken.followsLostReply && taken.knowsRepetition)
  }

  @Test func `an intent of this broker that was not closed says nothing of what others have done`() {
    var machine = Self.asking()
    _ = machine.handle(.intentSaved(flight: 1), at: Self.later(1))
    _ = machine.handle(Table.failure(.transient(.networkUnavailable)), at: Self.later(2))
    let own = RefreshIntent(profile: .default, generation: 7, startedAt: Table.start.wall)
    _ = machine.handle(Table.demand(2, force: true), at: Self.later(60))
    #expect(machine.handle(.replacedElsewhere(Table.record(7), intent: own), at: Self.later(61)).summary == [])
    #expect(!machine.isOutcomeUnknown)
  }

  @Test func `an end that is not written where the store has gone back holds here, and what comes there is taken up`() {
    var machine = Self.asking()
    _ = machine.handle(.intentSaved(flight: 1), at: Self.later(1))
    let end = machine.handle(Table.failure(.sessionEnded(.refreshRejected)), at: Self.later(2)).summary
    #expect(end.contains { $0.hasPrefix("save ended refreshRejected 8") }, "\(end)")
    #expect(machine.handle(.saveRefused(generation: 8, lost: 7), at: Self.later(3)).summary == [])
    #expect(machine.settledGeneration == 8 && machine.phase.name == "ended refreshRejected")
    let actions = machine.handle(.replacedElsewhere(Self.refreshed(8, 4, at: 5)), at: Self.later(5)).summary
    #expect(actions == ["publish login"] && machine.living != nil)
  }

  @Test func `tokens that may not be written where the store has gone back are used here until there is a login`() {
    var machine = Self.asking()
    _ = machine.handle(.intentSaved(flight: 1), at: Self.later(1))
    _ = machine.handle(Table.success(1), at: Self.later(2))
    let actions = machine.handle(.saveRefused(generation: 8, lost: 12), at: Self.later(3)).summary
    #expect(actions.contains("token 1"), "\(actions)")
    #expect(machine.settledGeneration == machine.generation && !machine.isStoreDegraded)
    let login = machine.handle(.replacedElsewhere(Self.refreshed(13, 4, at: 5)), at: Self.later(5)).summary
    #expect(login == ["publish tokenRefreshed"])
  }

  @Test func `an end behind a save of this broker's own is written once more`() {
    var machine = Self.asking()
    _ = machine.handle(.intentSaved(flight: 1), at: Self.later(1))
    let saving = machine.handle(Table.success(1), at: Self.later(2)).summary
    #expect(saving.contains { $0.hasPrefix("save living 8") }, "\(saving)")
    let end = machine.handle(.endConfirmed(nil), at: Self.later(3)).summary
    #expect(end.contains { $0.contains(" 9 announcing") }, "\(end)")
    _ = machine.handle(.saved(generation: 8), at: Self.later(4))
    let again = machine.handle(.saveRefused(generation: 9, lost: nil), at: Self.later(5)).summary
    #expect(again.contains { $0.contains(" 10 announcing") }, "\(again)")
  }

  @Test func `a login after the store has gone back comes behind everything that was lost`() {
    var machine = Self.asking()
    _ = machine.handle(.storeWentBack(20), at: Self.later(1))
    let login = ProviderSession(tokens: ScriptedProvider.tokens(5, now: Self.later(2).wall), user: nil)
    let actions = machine.handle(.loginAccepted(login, method: "password"), at: Self.later(2)).summary
    #expect(actions.contains { $0.hasPrefix("save living 21") }, "\(actions)")
  }

  @Test func `a logout where the store has gone back is written behind everything that was lost`() {
    var machine = Self.asking()
    _ = machine.handle(.logoutWanted(.user), at: Self.later(1))
    let again = machine.handle(.saveRefused(generation: 8, lost: 20), at: Self.later(2)).summary
    #expect(again == ["save signedOut 21 announcing logout"])
  }

  @Test func `a logout that another broker's refresh has overtaken is written over that`() {
    var machine = Self.asking()
    #expect(
      machine.handle(.logoutWanted(.user), at: Self.later(1)).summary.last == "save signedOut 8 announcing logout")
    let again = machine.handle(.replacedElsewhere(Self.refreshed(8, 4, at: 1)), at: Self.later(2))
    #expect(again.summary == ["save signedOut 9 announcing logout"])
    #expect(machine.phase.name == "signed out")
  }

  @Test func `a logout that the store has refused is written again, also after a login that it has refused`() {
    var machine = Self.asking()
    let login = ProviderSession(tokens: ScriptedProvider.tokens(5, now: Self.later(2).wall), user: nil)
    _ = machine.handle(.logoutWanted(.user), at: Self.later(1))
    _ = machine.handle(.loginAccepted(login, method: "password"), at: Self.later(2))
    #expect(machine.handle(.saveFailed(generation: 8), at: Self.later(3)).summary == [])
    let actions = machine.handle(.saveFailed(generation: 9), at: Self.later(3)).summary
    #expect(actions == ["save signedOut 10 announcing logout"] && machine.phase.name == "signed out")
  }

  @Test func `an end that another broker has written down first is the one that is told and shown`() {
    let setting = SessionMachineTableTests.Setting(
      name: "", events: [Table.restored, Table.demand(1)], idleTimeout: 600, isShared: true)
    var machine = Table.machine(setting)
    let end = machine.handle(.woken, at: Self.later(700)).summary
    #expect(end.last == "save ended idleTimeout 8 announcing sessionExpired", "\(end)")
    let record = Table.record(8, .ended(.refreshRejected, at: Self.later(699).wall))
    let actions = machine.handle(.replacedElsewhere(record), at: Self.later(701))
    #expect(actions.summary == ["publish sessionExpired"])
    guard case .publish(.sessionExpired(let event))? = actions.first else { return }
    #expect(event.reason == .refreshRejected && machine.phase.name == "ended refreshRejected")
  }

  @Test func `a refusal counts only for the token that is still the session's`() {
    var machine = Self.asking()
    _ = machine.handle(.intentSaved(flight: 1), at: Self.later(1))
    _ = machine.handle(Table.failure(.sessionEnded(.refreshRejected)), at: Self.later(2))
    let actions = machine.handle(.replacedElsewhere(Self.refreshed(8, 4, at: 1)), at: Self.later(3))
    #expect(actions.summary == ["publish login"])
    #expect(machine.handle(Table.demand(2), at: Self.later(4)).summary == ["token 2"])
  }

  @Test func `a use is not written down by itself: another broker may have newer tokens`() {
    let setting = SessionMachineTableTests.Setting(
      name: "", events: [Table.restored, Table.demand(1)], idleTimeout: 600, isShared: true)
    var machine = Table.machine(setting)
    for second in stride(from: 10, to: 500, by: 10) {
      _ = machine.handle(Table.demand(2), at: Self.later(second))
      #expect(machine.handle(.woken, at: Self.later(second)).isEmpty)
    }
  }
}
