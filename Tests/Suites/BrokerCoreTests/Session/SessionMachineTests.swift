import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// The session machine as a table of states and events.
@Suite(.standardTimeLimit) struct SessionMachineTests {
  private static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))

  private func later(_ duration: Duration) -> Moment {
    Moment(wall: Self.start.wall + duration, uptime: Self.start.uptime + duration)
  }

  private func machine() -> SessionMachine {
    SessionMachine(
      profile: .default, binding: ProviderBinding(type: "scripted"), rules: SessionRules(),
      tokenID: { "id-of-\($0.revealedString() ?? "")" })
  }

  private func loggedIn() -> SessionMachine {
    var machine = machine()
    let session = ProviderSession(
      tokens: ScriptedProvider.tokens(1, now: Self.start.wall), user: User(id: "u"))
    _ = machine.handle(.loginAccepted(session, method: "password"), at: Self.start)
    _ = machine.handle(.saved(generation: 1), at: Self.start)
    return machine
  }

  /// Lets the machine decide, and the store keep every intent at once.
  private func play(
    _ event: SessionMachine.Event, _ machine: inout SessionMachine, at now: Moment
  ) -> [SessionMachine.Action] {
    machine.handle(event, at: now).flatMap { action in
      guard case .openIntent(let flight, _) = action else { return [action] }
      return machine.handle(.intentSaved(flight: flight), at: now)
    }
  }

  private func demand(_ number: UInt64, force: Bool = false, waits: Bool = false) -> SessionMachine.Event {
    .tokenWanted(TokenDemand(waiter: CallerID(number), forcesRefresh: force, waitsForLogin: waits))
  }

  @Test func `a login is shown to nobody before it is saved`() {
    var machine = machine()
    let session = ProviderSession(tokens: ScriptedProvider.tokens(1, now: Self.start.wall), user: User(id: "u"))
    let actions = machine.handle(.loginAccepted(session, method: "password"), at: Self.start)
    #expect(actions.summary == ["save living 1 announcing login"])
    #expect(play(demand(1), &machine, at: Self.start).summary == ["error 1 loginRequired"])
    #expect(machine.handle(.saved(generation: 1), at: Self.start).isEmpty)
    #expect(play(demand(2), &machine, at: Self.start).summary == ["token 2"])
  }

  @Test func `a login that cannot be saved leaves nobody logged in`() {
    var machine = machine()
    let session = ProviderSession(tokens: ScriptedProvider.tokens(1, now: Self.start.wall), user: nil)
    _ = machine.handle(.loginAccepted(session, method: "password"), at: Self.start)
    #expect(machine.handle(.saveFailed(generation: 1), at: Self.start).summary == ["save signedOut 2"])
    #expect(machine.phase.name == "signed out")
  }

  @Test func `whoever waits for a login gets the token when it is saved`() {
    var machine = machine()
    #expect(play(demand(1, waits: true), &machine, at: Self.start).isEmpty)
    let session = ProviderSession(tokens: ScriptedProvider.tokens(1, now: Self.start.wall), user: nil)
    _ = machine.handle(.loginAccepted(session, method: "password"), at: Self.start)
    #expect(machine.handle(.saved(generation: 1), at: Self.start).summary == ["token 1"])
  }

  @Test func `many callers at the instant of expiry cause one refresh`() {
    var machine = loggedIn()
    let now = later(.seconds(890))
    #expect(play(demand(1), &machine, at: now).summary == ["spend 1 refresh-1"])
    for number in 2...100 {
      #expect(play(demand(UInt64(number)), &machine, at: now).isEmpty)
    }
    let tokens = ScriptedProvider.tokens(2, now: now.wall)
    let saving = machine.handle(.refreshSucceeded(flight: 1, tokens, sentAt: now.wall), at: now)
    #expect(saving.summary == ["save living 2 announcing tokenRefreshed"])
    #expect(machine.handle(.saved(generation: 2), at: now).count == 100)
    #expect(machine.living?.tokens.refreshToken?.value == ScriptedProvider.secret("refresh-2"))
  }

  @Test func `a forced refresh joins the one that is under way`() {
    var machine = loggedIn()
    #expect(play(demand(1, force: true), &machine, at: Self.start).summary == ["spend 1 refresh-1"])
    #expect(play(demand(2, force: true), &machine, at: Self.start).isEmpty)
    #expect(play(demand(3), &machine, at: Self.start).summary == ["token 3"])
  }

  @Test func `a passing failure keeps the session and serves the living token`() {
    var machine = loggedIn()
    let now = later(.seconds(880))
    _ = play(demand(1), &machine, at: now)
    _ = play(demand(2, force: true), &machine, at: now)
    let failure = ProviderFailure.transient(.providerUnavailable, retryAfter: .seconds(7))
    let actions = machine.handle(.refreshFailed(flight: 1, failure), at: now, jitter: 0)
    #expect(
      actions.summary == ["closeIntent", "offline token 1", "error 2 providerUnavailable", "publish refreshFailed"])
    guard case .backingOff(let until, let error) = machine.activity else {
      Issue.record("the machine does not back off")
      return
    }
    #expect(until == now.uptime + .seconds(7))
    #expect(error.retryAfter == .seconds(7))
  }

  @Test func `while it backs off nobody makes it send again, and afterwards the first caller does`() {
    var machine = loggedIn()
    let expired = later(.seconds(1000))
    _ = play(demand(1), &machine, at: expired)
    _ = machine.handle(
      .refreshFailed(flight: 1, .transient(.networkUnavailable, retryAfter: .seconds(5))), at: expired, jitter: 0)
    #expect(play(demand(2), &machine, at: later(.seconds(1004))).summary == ["error 2 networkUnavailable"])
    #expect(play(demand(3), &machine, at: later(.seconds(1006))).summary == ["spend 2 refresh-1"])
  }

  @Test func `only a definitive refusal ends the session`() {
    var machine = loggedIn()
    let now = later(.seconds(1000))
    _ = play(demand(1), &machine, at: now)
    let actions = machine.handle(
      .refreshFailed(flight: 1, .sessionEnded(.refreshRejected, alert: .refreshTokenReuse)), at: now, jitter: 0)
    #expect(
      actions.summary == [
        "save ended refreshRejected 2 announcing securityAlert sessionExpired", "error 1 sessionExpired",
      ]
    )
    #expect(machine.phase.name == "ended refreshRejected")
  }

  @Test func `an unknown outcome sends the token again only after the access token has ended`() {
    var machine = loggedIn()
    _ = play(demand(1, force: true), &machine, at: Self.start)
    let actions = machine.handle(.refreshFailed(flight: 1, .outcomeUnknown(.timeout)), at: Self.start, jitter: 0)
    #expect(actions.summary == ["error 1 refreshOutcomeUnknown", "publish refreshFailed"])
    #expect(play(demand(2), &machine, at: later(.seconds(10))).summary == ["offline token 2"])
    #expect(
      play(demand(3, force: true), &machine, at: later(.seconds(899))).summary == ["error 3 refreshOutcomeUnknown"])
    #expect(play(demand(4), &machine, at: later(.seconds(901))).summary == ["spend 2 refresh-1"])
  }

  @Test func `tokens that cannot be saved are kept, served, and marked`() {
    var machine = loggedIn()
    let now = later(.seconds(890))
    _ = play(demand(1), &machine, at: now)
    let tokens = ScriptedProvider.tokens(2, now: now.wall)
    _ = machine.handle(.refreshSucceeded(flight: 1, tokens, sentAt: now.wall), at: now)
    #expect(machine.handle(.saveFailed(generation: 2), at: now).summary == ["token 1"])
    #expect(machine.isStoreDegraded)
    _ = machine.handle(.saved(generation: 2), at: now)
    #expect(!machine.isStoreDegraded)
  }

  @Test func `a logout forgets at once, and a late refresh brings nothing back`() {
    var machine = loggedIn()
    _ = play(demand(1, force: true), &machine, at: Self.start)
    let actions = machine.handle(.logoutWanted(.user), at: Self.start)
    #expect(actions.summary == ["error 1 loginRequired", "save signedOut 2 announcing logout"])
    let late = ScriptedProvider.tokens(2, now: Self.start.wall)
    let given = machine.handle(.refreshSucceeded(flight: 1, late, sentAt: Self.start.wall), at: Self.start)
    #expect(given.summary == ["discard access-2"])
    #expect(machine.handle(.logoutWanted(.user), at: Self.start).isEmpty)
    #expect(machine.phase.name == "signed out")
  }

  @Test func `a refresh token that is not rotated is kept`() {
    var machine = loggedIn()
    _ = play(demand(1, force: true), &machine, at: Self.start)
    var tokens = ScriptedProvider.tokens(2, now: Self.start.wall)
    tokens.refreshToken = nil
    tokens.scopes = []
    _ = machine.handle(.refreshSucceeded(flight: 1, tokens, sentAt: Self.start.wall), at: Self.start)
    _ = machine.handle(.saved(generation: 2), at: Self.start)
    #expect(machine.living?.tokens.refreshToken?.value == ScriptedProvider.secret("refresh-1"))
    #expect(machine.living?.tokens.scopes == ["read"])
  }

  @Test func `more than twenty refreshes in a minute open the breaker, and the living token is still served`() {
    var machine = loggedIn()
    for round in 1...20 {
      let now = later(.seconds(round))
      #expect(play(demand(UInt64(round), force: true), &machine, at: now).count == 1)
      let tokens = ScriptedProvider.tokens(round + 1, now: now.wall)
      _ = machine.handle(.refreshSucceeded(flight: UInt64(round), tokens, sentAt: now.wall), at: now)
      _ = machine.handle(.saved(generation: UInt64(round + 1)), at: now)
    }
    let now = later(.seconds(21))
    #expect(
      play(demand(21, force: true), &machine, at: now).summary == ["error 21 rateLimited", "publish refreshFailed"])
    // It is told once, and the second caller is told why as well.
    #expect(play(demand(24, force: true), &machine, at: now).summary == ["error 24 rateLimited"])
    #expect(play(demand(22), &machine, at: now).summary == ["token 22"])
    #expect(play(demand(23, force: true), &machine, at: later(.seconds(62))).count == 1)
  }

  @Test func `a wake-up refreshes what is used and due, and leaves alone what nobody uses`() {
    var used = loggedIn()
    #expect(used.nextWake(at: Self.start) == Self.start.uptime + .seconds(720))
    #expect(play(.woken, &used, at: later(.seconds(721))).summary == ["spend 1 refresh-1"])
    var restored = machine()
    let record = SessionRecord(
      profile: .default, binding: ProviderBinding(type: "scripted"), generation: 7,
      contents: .living(
        LivingSession(
          tokens: ScriptedProvider.tokens(1, now: Self.start.wall), user: nil, authTime: Self.start.wall,
          issuedAt: Self.start.wall, lastValidatedAt: Self.start.wall)))
    _ = restored.handle(.rulesChanged(SessionRules(keepAlive: .seconds(600))), at: Self.start)
    _ = restored.handle(.restored(record, intent: nil), at: Self.start)
    #expect(play(.woken, &restored, at: later(.seconds(721))).isEmpty)
    #expect(restored.nextWake(at: Self.start) == nil)
  }

  @Test func `a token that ends with its refresh token is refreshed in time`() {
    var machine = machine()
    var tokens = ScriptedProvider.tokens(1, now: Self.start.wall)
    tokens.refreshTokenExpiresAt = tokens.accessTokenExpiresAt
    _ = machine.handle(.loginAccepted(ProviderSession(tokens: tokens, user: nil), method: "password"), at: Self.start)
    _ = machine.handle(.saved(generation: 1), at: Self.start)
    #expect(machine.nextWake(at: Self.start) == Self.start.uptime + .seconds(598) + .milliseconds(500))
    #expect(play(.woken, &machine, at: later(.seconds(599))).summary == ["spend 1 refresh-1"])
  }

  @Test func `a session of which neither token lives is the provider's to end`() {
    var machine = loggedIn()
    let rules = SessionRules(expiry: ExpiryPolicy(refreshesInBackground: false))
    #expect(play(.rulesChanged(rules), &machine, at: Self.start).isEmpty)
    let late = later(.seconds(86401))
    #expect(play(.woken, &machine, at: late).isEmpty)
    #expect(play(demand(1), &machine, at: late).summary == ["spend 1 refresh-1"])
    let refusal = SessionMachine.Event.refreshFailed(flight: 1, .sessionEnded(.refreshRejected))
    #expect(
      play(refusal, &machine, at: late).summary == [
        "save ended refreshTokenExpired 2 announcing sessionExpired", "error 1 sessionExpired",
      ])
  }

  @Test func `a session that is bound to another place is signed out`() {
    var machine = machine()
    var record = SessionRecord(
      profile: .default, binding: ProviderBinding(type: "other"), generation: 3,
      contents: .signedOut(at: Self.start.wall))
    #expect(machine.handle(.restored(record, intent: nil), at: Self.start).isEmpty)
    machine = self.machine()
    record.contents = .living(
      LivingSession(
        tokens: ScriptedProvider.tokens(1, now: Self.start.wall), user: nil, authTime: Self.start.wall,
        issuedAt: Self.start.wall, lastValidatedAt: Self.start.wall))
    #expect(
      machine.handle(.restored(record, intent: nil), at: Self.start).summary == ["save signedOut 4 announcing logout"])
    #expect(machine.living == nil)
  }

  @Test(arguments: [Duration.zero, .seconds(100), .seconds(890), .seconds(2000), .seconds(90000)])
  func `no event traps in any state`(after delay: Duration) {
    let tokens = ScriptedProvider.tokens(9, now: Self.start.wall)
    let session = ProviderSession(tokens: tokens, user: nil)
    let events: [SessionMachine.Event] = [
      .loginAccepted(session, method: "password"), .saved(generation: 1), .saveFailed(generation: 1),
      .saved(generation: 99), demand(1), demand(2, force: true), .waiterLeft(CallerID(1)),
      .refreshSucceeded(flight: 1, tokens, sentAt: Self.start.wall),
      .refreshFailed(flight: 1, .unsupported),
      .refreshFailed(flight: 1, .outcomeUnknown(.timeout)),
      .intentSaved(flight: 1), .intentFailed(flight: 1), .mistrusted, .logoutWanted(.user), .woken,
    ]
    for first in events {
      for second in events {
        for third in events {
          var machine = loggedIn()
          for event in [first, second, third] { _ = machine.handle(event, at: later(delay)) }
          _ = machine.nextWake(at: later(delay))
        }
      }
    }
  }
}
