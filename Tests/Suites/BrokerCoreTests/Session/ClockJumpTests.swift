import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Clocks that are set, networks that return, and times without use.
@Suite(.standardTimeLimit) struct ClockJumpTests {
  private static let offline = ProviderFailure.transient(.networkUnavailable)

  private func script(
    _ rules: SessionRules = SessionRules(), _ change: (inout LivingSession) -> Void = { _ in }
  ) -> SessionScript {
    var script = SessionScript(rules, SessionScript.record(change))
    _ = script.restart()
    return script
  }

  @Test func `a clock that is set far forward refreshes, and ends nothing`() {
    var script = script()
    script.pass(10)
    script.setClock(by: 10_000_000)
    #expect(script.play(.clockWasSet) == ["spend 1 refresh-1"])
    _ = script.fail(1, Self.offline)
    #expect(script.machine.living != nil)
    script.pass(86_400)
    script.setClock(by: -10_000_000)
    // Both tokens have ended by both clocks; the provider may know better.
    #expect(script.play(.woken) == ["spend 2 refresh-1"])
    #expect(script.succeed(2) == ["save living 8 announcing tokenRefreshed"])
  }

  @Test func `a session without a refresh token outlives a clock that was set forward by mistake`() {
    var script = script { $0.tokens.refreshToken = nil }
    script.setClock(by: 5000)
    #expect(script.want(1) == ["publish sessionExpired", "error 1 sessionExpired"])
    #expect(script.play(.clockWasSet).isEmpty)
    script.setClock(by: -5000)
    #expect(script.want(2) == ["publish tokenRefreshed", "token 2"])
    script.pass(900)
    #expect(script.play(.woken) == ["publish sessionExpired"])
    #expect(script.want(3) == ["error 3 sessionExpired"])
    #expect(script.machine.living != nil && script.stored?.generation == 7)
  }

  @Test func `a clock that is set back does not make an ended token good`() {
    var script = script()
    script.pass(890)
    script.setClock(by: -5000)
    #expect(script.want(1) == ["spend 1 refresh-1"])
    var late = self.script()
    late.pass(901)
    late.setClock(by: -5000)
    #expect(late.want(1) == ["spend 1 refresh-1"])
    #expect(late.fail(1, Self.offline).first == "error 1 networkUnavailable")
  }

  @Test func `tokens of a login live as long as they were given for, though the clock was set before they came`() {
    for step in [-500, 500] {
      var script = SessionScript(SessionRules(), nil)
      let sentAt = script.now
      let session = ProviderSession(tokens: ScriptedProvider.tokens(1, now: sentAt.wall), user: nil)
      script.setClock(by: step)
      script.pass(20)
      _ = script.play(.loginAccepted(session, method: "password", sentAt: sentAt))
      #expect(script.machine.accessTokenEnd == sentAt.deadline(after: 900, by: step))
      // The token's own life is long enough for what is wanted, so where its rest is not, there is a better one.
      script.pass(500)
      let demand = TokenDemand(waiter: CallerID(1), minValidity: .seconds(600))
      #expect(script.play(.tokenWanted(demand)) == ["spend 1 refresh-1"])
    }
  }

  @Test func `tokens of a changed password live as long as they were given for, however the clock was set`() {
    for step in [-500, 500] {
      var script = script()
      let sentAt = script.now
      script.setClock(by: step)
      script.pass(20)
      _ = script.play(.tokensReplaced(ScriptedProvider.tokens(2, now: sentAt.wall), sentAt: sentAt))
      #expect(script.machine.accessTokenEnd == sentAt.deadline(after: 900, by: step))
    }
  }

  @Test func `tokens of a refresh end by uptime as well, counted from when it was sent`() {
    var script = script()
    _ = script.want(1, force: true)
    script.pass(20)
    _ = script.play(
      .refreshSucceeded(
        flight: 1, ScriptedProvider.tokens(2, now: SessionScript.start.wall), sentAt: SessionScript.start.wall))
    script.setClock(by: -5000)
    script.pass(879)
    #expect(script.machine.accessTokenEnd?.rest(at: script.now) == .seconds(1))
  }

  @Test func `tokens that have ended before they came are answered to nobody`() {
    var script = script()
    script.pass(950)
    _ = script.want(1)
    let late = ScriptedProvider.tokens(2, now: script.now.wall, lifetime: .seconds(10))
    let sentAt = script.now.wall
    script.pass(11)
    #expect(
      script.play(.refreshSucceeded(flight: 1, late, sentAt: sentAt)) == [
        "save living 8 announcing tokenRefreshed", "error 1 timeout",
      ])
  }

  @Test func `when the network returns one attempt is made at once`() {
    var script = script()
    script.pass(900)
    _ = script.want(1)
    _ = script.fail(1, Self.offline, jitter: 1)
    #expect(script.play(.providerSeen(.reached)) == ["spend 2 refresh-1"])
    #expect(script.play(.providerSeen(.reached)).isEmpty)
    _ = script.fail(2, Self.offline, jitter: 1)
    #expect(script.nextWake == 2)
  }

  @Test func `the network's return changes nothing where something else is waited for`() {
    var busy = script()
    _ = busy.want(1, force: true)
    _ = busy.fail(1, .transient(.networkUnavailable, retryAfter: .seconds(60)))
    #expect(busy.play(.providerSeen(.reached)).isEmpty)
    #expect(busy.want(2, force: true) == ["error 2 networkUnavailable"])
    var down = script()
    _ = down.want(1, force: true)
    _ = down.fail(1, .transient(.providerUnavailable), jitter: 1)
    #expect(down.play(.providerSeen(.reached)).isEmpty)
    var unknown = script()
    _ = unknown.want(1, force: true)
    _ = unknown.fail(1, .outcomeUnknown(.networkUnavailable))
    #expect(unknown.play(.providerSeen(.reached)).isEmpty)
  }

  @Test func `where nothing is refreshed unasked the network's return spares the next caller the wait`() {
    var script = script(SessionRules(expiry: ExpiryPolicy(refreshesInBackground: false)))
    script.pass(900)
    _ = script.want(1)
    _ = script.fail(1, Self.offline, jitter: 1)
    #expect(script.want(2) == ["error 2 networkUnavailable"])
    #expect(script.play(.providerSeen(.reached)).isEmpty)
    #expect(script.want(3) == ["spend 2 refresh-1"])
  }
}

extension Moment {
  /// So many seconds later, on both clocks, of which the wall clock was set.
  fileprivate func deadline(after seconds: Int, by step: Int) -> Deadline {
    Deadline(wall: wall + .seconds(seconds + step), uptime: uptime + .seconds(seconds))
  }
}
