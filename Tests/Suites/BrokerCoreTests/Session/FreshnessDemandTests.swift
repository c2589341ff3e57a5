import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What callers get who want more of a token than it can have, and what everyone is told of an outage.
@Suite(.standardTimeLimit) struct FreshnessDemandTests {
  private func script(_ rules: SessionRules = SessionRules(), lifetime: Int) -> SessionScript {
    var script = SessionScript(
      rules, SessionScript.record { $0.tokens.accessTokenExpiresAt = SessionScript.start.wall + .seconds(lifetime) })
    _ = script.restart()
    return script
  }

  private func demand(_ number: UInt64, _ seconds: Int) -> SessionMachine.Event {
    .tokenWanted(TokenDemand(waiter: CallerID(number), minValidity: .seconds(seconds)))
  }

  @Test func `a want as long as the lifetime refreshes when the schedule does, and not on every call`() {
    let rules = SessionRules(expiry: ExpiryPolicy(skew: .seconds(300)))
    var script = script(rules, lifetime: 300)
    var flight: UInt64 = 0
    for number in 1...3600 as ClosedRange<UInt64> {
      script.pass(1)
      if let wake = script.nextWake, wake <= 0, script.play(.woken).contains(where: { $0.hasPrefix("spend") }) {
        flight += 1
        let end = script.now.wall + .seconds(300)
        _ = script.succeed(flight) { $0.accessTokenExpiresAt = end }
      }
      #expect(script.want(number) == ["capped token \(number)"])
    }
    // An hour: one each four minutes.
    #expect((14...16).contains(flight))
  }

  @Test func `without a schedule the first caller after four fifths of the life refreshes`() {
    let rules = SessionRules(expiry: ExpiryPolicy(refreshesInBackground: false))
    var script = script(rules, lifetime: 300)
    #expect(script.play(demand(1, 300)) == ["capped token 1"])
    script.pass(239)
    #expect(script.play(demand(2, 241)) == ["capped token 2"])
    #expect(script.play(demand(3, 60)) == ["token 3"])
    script.pass(2)
    #expect(script.play(demand(4, 600)) == ["spend 1 refresh-1"])
    #expect(script.fail(1, .transient(.networkUnavailable)).first == "offline capped token 4")
  }

  @Test func `the token of a target follows the same rule`() {
    var script = script(lifetime: 900)
    let target = TokenTarget(audience: "a")
    _ = script.want(1, target)
    let end = script.now.wall + .seconds(300)
    let actions = script.succeed(1) { $0.accessTokenExpiresAt = end }
    #expect(actions.last == "access-2 for @a 1")
    #expect(script.want(2, target, valid: .seconds(300)) == ["capped access-2 for @a 2"])
    script.pass(239)
    #expect(script.want(3, target, valid: .seconds(300)) == ["capped access-2 for @a 3"])
    script.pass(1)
    #expect(script.want(4, target, valid: .seconds(300)) == ["spend 2 refresh-2 for @a"])
  }

  @Test func `a session that cannot be refreshed gives its token to its end, whatever is wanted`() {
    var script = SessionScript(SessionRules(), SessionScript.record { $0.tokens.refreshToken = nil })
    _ = script.restart()
    script.pass(890)
    #expect(script.want(1) == ["token 1"])
    #expect(script.play(demand(2, 800)) == ["capped token 2"])
    #expect(script.want(3, force: true) == ["error 3 loginRequired"])
  }

  @Test func `an outage is told to every caller, until a try brings tokens`() {
    var script = script(lifetime: 900)
    script.pass(500)
    #expect(script.want(1) == ["token 1"])
    #expect(script.play(demand(2, 600)) == ["spend 1 refresh-1"])
    #expect(script.want(3) == ["token 3"])
    #expect(script.fail(1, .transient(.networkUnavailable), jitter: 1).first == "offline token 2")
    #expect(script.machine.isOffline)
    #expect(script.want(4) == ["offline token 4"])
    script.pass(1)
    #expect(script.play(demand(5, 600)) == ["spend 2 refresh-1"])
    // The second try is under way: nothing is known that is better.
    #expect(script.machine.isOffline && script.want(6) == ["offline token 6"])
    #expect(script.succeed(2).last == "token 5")
    #expect(!script.machine.isOffline && script.want(7) == ["token 7"])
  }
}
