import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// What the session machine writes down before it spends a refresh token, and what it makes of that after a crash.
@Suite(.standardTimeLimit) struct RefreshJournalTests {
  private static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))
  private static let binding = ProviderBinding(type: "scripted")

  private func later(_ seconds: Int) -> Moment {
    Moment(wall: Self.start.wall + .seconds(seconds), uptime: Self.start.uptime + .seconds(seconds))
  }

  private func machine() -> SessionMachine {
    SessionMachine(profile: .default, binding: Self.binding, rules: SessionRules(), tokenID: { _ in "id" })
  }

  private func record(_ generation: UInt64 = 7) -> SessionRecord {
    SessionRecord(
      profile: .default, binding: Self.binding, generation: generation,
      contents: .living(
        LivingSession(
          tokens: ScriptedProvider.tokens(1, now: Self.start.wall), user: nil, authTime: Self.start.wall,
          issuedAt: Self.start.wall, lastValidatedAt: Self.start.wall)))
  }

  private func intent(_ generation: UInt64) -> RefreshIntent {
    RefreshIntent(profile: .default, generation: generation, startedAt: Self.start.wall)
  }

  private func restored(_ intent: RefreshIntent? = nil) -> SessionMachine {
    var machine = machine()
    _ = machine.handle(.restored(record(), intent: intent), at: Self.start)
    return machine
  }

  private func want(_ number: UInt64, force: Bool = false) -> SessionMachine.Event {
    .tokenWanted(TokenDemand(waiter: CallerID(number), forcesRefresh: force))
  }

  private var session: ProviderSession {
    ProviderSession(tokens: ScriptedProvider.tokens(5, now: Self.start.wall), user: nil)
  }

  @Test func `nothing is sent before the intent is durable`() {
    var machine = restored()
    #expect(machine.handle(want(1, force: true), at: Self.start).summary == ["openIntent 1 of 7"])
    #expect(machine.activity == .preparing(flight: 1))
    #expect(machine.handle(want(2, force: true), at: Self.start).isEmpty)
    #expect(machine.handle(.intentSaved(flight: 1), at: Self.start).summary == ["spend 1 refresh-1"])
    #expect(machine.handle(.intentSaved(flight: 1), at: Self.start).isEmpty)
  }

  @Test func `an intent that cannot be written sends nothing, and backs off`() {
    var machine = restored()
    _ = machine.handle(want(1, force: true), at: Self.start)
    _ = machine.handle(want(2, force: true), at: Self.start)
    let actions = machine.handle(.intentFailed(flight: 1), at: Self.start, jitter: 1)
    #expect(actions.summary == ["error 1 storeFailed", "error 2 storeFailed", "publish refreshFailed"])
    #expect(machine.handle(want(3), at: Self.start).summary == ["offline token 3"])
    #expect(machine.handle(want(4, force: true), at: Self.start).summary == ["error 4 storeFailed"])
    #expect(machine.handle(want(5, force: true), at: later(2)).summary == ["openIntent 2 of 7"])
  }

  @Test func `a failure that did not spend the token closes the intent, a lost reply leaves it open`() {
    for (failure, isClosed) in [
      (ProviderFailure.transient(.networkUnavailable), true), (.misconfigured(.client), true),
      (.outcomeUnknown(.timeout), false),
    ] {
      var machine = restored()
      _ = machine.handle(want(1, force: true), at: Self.start)
      _ = machine.handle(.intentSaved(flight: 1), at: Self.start)
      let actions = machine.handle(.refreshFailed(flight: 1, failure), at: Self.start, jitter: 0)
      #expect(actions.summary.contains("closeIntent") == isClosed, "\(failure)")
    }
  }

  @Test func `an open intent at the start means that the outcome is unknown`() {
    var machine = restored(intent(7))
    #expect(machine.isOutcomeUnknown)
    #expect(machine.handle(want(1), at: later(10)).summary == ["offline token 1"])
    #expect(machine.handle(want(2, force: true), at: later(899)).summary == ["error 2 refreshOutcomeUnknown"])
    #expect(machine.nextWake(at: later(899)) == later(900).uptime)
    // The intent is open already: the token is sent at once.
    #expect(machine.handle(want(3), at: later(901)).summary == ["spend 1 refresh-1"])
  }

  @Test func `after an unknown outcome only a definitive answer counts`() {
    var machine = restored(intent(7))
    _ = machine.handle(want(1), at: later(901))
    let passing = machine.handle(.refreshFailed(flight: 1, .transient(.timeout)), at: later(901), jitter: 0)
    #expect(passing.summary == ["error 1 refreshOutcomeUnknown", "publish refreshFailed"])
    #expect(machine.handle(want(2), at: later(910)).summary == ["spend 2 refresh-1"])
    let refusal = ProviderFailure.sessionEnded(.refreshRejected, alert: .refreshTokenReuse)
    #expect(
      machine.handle(.refreshFailed(flight: 2, refusal), at: later(910), jitter: 0).summary == [
        "save ended refreshOutcomeUnknown 8 announcing sessionExpired", "error 2 sessionExpired",
      ])
  }

  @Test func `after an unknown outcome a success saves the session`() {
    var machine = restored(intent(7))
    _ = machine.handle(want(1), at: later(901))
    let tokens = ScriptedProvider.tokens(2, now: later(901).wall)
    _ = machine.handle(.refreshSucceeded(flight: 1, tokens, sentAt: later(901).wall), at: later(901))
    #expect(machine.handle(.saved(generation: 8), at: later(901)).summary == ["token 1"])
    #expect(!machine.isOutcomeUnknown)
    #expect(machine.handle(want(2, force: true), at: later(902)).summary == ["openIntent 2 of 8"])
  }

  @Test func `an intent for another generation is stale`() {
    var machine = machine()
    #expect(machine.handle(.restored(record(), intent: intent(6)), at: Self.start).summary == ["closeIntent"])
    #expect(!machine.isOutcomeUnknown)
    var ended = self.machine()
    var over = record()
    over.contents = .signedOut(at: Self.start.wall)
    #expect(ended.handle(.restored(over, intent: intent(7)), at: Self.start).summary == ["closeIntent"])
  }

  @Test func `an intent after a login that could not be saved is of the token that rests`() {
    var before = restored()
    _ = before.handle(.loginAccepted(session, method: "password"), at: Self.start)
    #expect(before.handle(.saveFailed(generation: 8), at: Self.start).summary == ["save living 9"])
    #expect(before.handle(want(1, force: true), at: Self.start).summary == ["saveAgain"])
    #expect(before.handle(.saved(generation: 9), at: Self.start).summary == ["openIntent 1 of 9"])
    var after = restored(intent(8))
    #expect(after.isOutcomeUnknown)
    #expect(after.handle(want(2, force: true), at: later(1)).summary == ["error 2 refreshOutcomeUnknown"])
  }

  @Test func `a login that comes while the intent is written leaves the token unspent`() {
    var machine = restored()
    _ = machine.handle(want(1, force: true), at: Self.start)
    _ = machine.handle(.loginAccepted(session, method: "password"), at: Self.start)
    #expect(machine.handle(.intentSaved(flight: 1), at: Self.start).summary == ["closeIntent"])
    // What it replaces is revoked, by tokens that nobody has spent.
    #expect(machine.handle(.saved(generation: 8), at: Self.start).summary == ["token 1", "revoke access-1"])
  }

  @Test func `a logout that comes while the intent is written spends nothing`() {
    var machine = restored()
    _ = machine.handle(want(1, force: true), at: Self.start)
    _ = machine.handle(.logoutWanted(.user), at: Self.start)
    #expect(machine.handle(.intentSaved(flight: 1), at: Self.start).isEmpty)
    #expect(machine.handle(.intentFailed(flight: 1), at: Self.start, jitter: 0).isEmpty)
  }

  /// A session whose newest tokens are only in memory.
  private func degraded() -> SessionMachine {
    var machine = restored()
    _ = machine.handle(want(1, force: true), at: Self.start)
    _ = machine.handle(.intentSaved(flight: 1), at: Self.start)
    let tokens = ScriptedProvider.tokens(2, now: Self.start.wall)
    _ = machine.handle(.refreshSucceeded(flight: 1, tokens, sentAt: Self.start.wall), at: Self.start)
    _ = machine.handle(.saveFailed(generation: 8), at: Self.start)
    return machine
  }

  @Test func `no second rotation is spent before the first is durable`() {
    var machine = degraded()
    #expect(machine.handle(want(2), at: Self.start).summary == ["token 2"])
    #expect(machine.handle(want(3, force: true), at: Self.start).summary == ["saveAgain"])
    #expect(machine.handle(.saveFailed(generation: 8), at: Self.start).summary == ["error 3 storeFailed"])
    #expect(machine.handle(want(4), at: later(1000)).summary == ["saveAgain"])
    #expect(machine.handle(.saved(generation: 8), at: later(1000)).summary == ["openIntent 2 of 8"])
  }

  @Test func `a background refresh waits for the disk without a turn of its own`() {
    var machine = degraded()
    #expect(machine.nextWake(at: Self.start) == nil)
    #expect(machine.handle(.woken, at: later(800)).isEmpty)
    _ = machine.handle(.saved(generation: 8), at: later(800))
    #expect(machine.handle(.woken, at: later(800)).summary == ["openIntent 2 of 8"])
  }

  @Test func `a refused login does not drop tokens that are still to be saved`() {
    var machine = degraded()
    _ = machine.handle(.loginAccepted(session, method: "password"), at: Self.start)
    let actions = machine.handle(.saveFailed(generation: 9), at: Self.start)
    #expect(actions.summary == ["save living 10 announcing tokenRefreshed"])
    #expect(machine.isStoreDegraded)
    _ = machine.handle(.saved(generation: 10), at: Self.start)
    #expect(!machine.isStoreDegraded)
    #expect(machine.living?.tokens.refreshToken?.value == ScriptedProvider.secret("refresh-2"))
  }

  @Test func `a record that cannot be trusted asks for a login, and the login's record is newer`() {
    var machine = machine()
    _ = machine.handle(.mistrusted, at: Self.start)
    #expect(machine.handle(want(1), at: Self.start).summary == ["error 1 vaultTampered"])
    #expect(machine.generation > 1_000_000_000)
    _ = machine.handle(.loginAccepted(session, method: "password"), at: Self.start)
    _ = machine.handle(.saved(generation: machine.generation), at: Self.start)
    #expect(machine.handle(want(2), at: Self.start).summary == ["token 2"])
    #expect(machine.phase.name == "living")
  }

  @Test func `a logout removes a record that cannot be trusted`() {
    var machine = machine()
    _ = machine.handle(.mistrusted, at: Self.start)
    #expect(machine.handle(.logoutWanted(.user), at: Self.start).count == 1)
    #expect(machine.handle(want(1), at: Self.start).summary == ["error 1 loginRequired"])
  }
}
