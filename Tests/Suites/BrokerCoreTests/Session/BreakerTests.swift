import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What limits refreshes: one breaker for the session, one for each target, and one for all targets together.
@Suite(.standardTimeLimit) struct BreakerTests {
  @Test func `a new login has a breaker of its own`() {
    var script = SessionScript()
    _ = script.restart()
    for flight in 1...20 as ClosedRange<UInt64> {
      _ = script.want(flight, force: true)
      _ = script.succeed(flight)
    }
    #expect(script.want(21, force: true) == ["error 21 rateLimited", "publish refreshFailed"])
    // Only a login begins another session, not one more refresh of the same.
    _ = script.play(.logoutWanted(.user))
    _ = script.play(
      .loginAccepted(
        ProviderSession(tokens: ScriptedProvider.tokens(90, now: script.now.wall), user: nil), method: "password"))
    #expect(script.want(22, force: true) == ["spend 21 refresh-90"])
  }

  @Test func `a login in the place of a session has a breaker of its own as well`() {
    var script = SessionScript()
    _ = script.restart()
    for flight in 1...20 as ClosedRange<UInt64> {
      _ = script.want(flight, force: true)
      _ = script.succeed(flight)
    }
    _ = script.play(
      .loginAccepted(
        ProviderSession(tokens: ScriptedProvider.tokens(90, now: script.now.wall), user: nil), method: "password"))
    #expect(script.want(22, force: true) == ["spend 21 refresh-90"])
  }

  @Test func `the breaker is no outage: the living token is an ordinary answer`() {
    var script = SessionScript()
    _ = script.restart()
    let end = script.now.wall + .seconds(100)
    for flight in 1...20 as ClosedRange<UInt64> {
      _ = script.want(flight, force: true)
      _ = script.succeed(flight) { $0.accessTokenExpiresAt = end }
    }
    let short = TokenDemand(waiter: CallerID(22), minValidity: .seconds(60))
    script.pass(50)
    #expect(script.play(.tokenWanted(short)) == ["token 22", "publish refreshFailed"])
    #expect(script.want(23) == ["token 23"])
  }

  @Test func `many targets keep nobody from refreshing the session, and one target that loops is stopped alone`() {
    let (a, b) = (TokenTarget(audience: "a"), TokenTarget(scopes: ["write", "admin"], audience: "b"))
    var script = SessionScript()
    _ = script.restart()
    for number in 1...25 as ClosedRange<UInt64> {
      #expect(script.want(number, TokenTarget(audience: "t\(number)")).count == 1)
      _ = script.succeed(number)
    }
    #expect(script.want(30, force: true) == ["spend 26 refresh-26"])
    #expect(script.succeed(26).last == "token 30")
    for flight in 27...46 as ClosedRange<UInt64> {
      #expect(script.want(flight, a, force: true).count == 1)
      _ = script.succeed(flight)
    }
    #expect(script.want(50, a, force: true) == ["error 50 rateLimited"])
    #expect(script.want(51, a) == ["access-47 for @a 51"])
    #expect(script.want(52, b) == ["spend 47 refresh-47 for admin+write@b"])
    _ = script.succeed(47)
    #expect(script.want(53, force: true) == ["spend 48 refresh-48"])
    _ = script.succeed(48)
    script.pass(60)
    #expect(script.want(54, a, force: true) == ["spend 49 refresh-49 for @a"])
  }

  @Test func `a session that loops stops no target, and is told of once`() {
    var script = SessionScript()
    _ = script.restart()
    for flight in 1...20 as ClosedRange<UInt64> {
      _ = script.want(flight, force: true)
      _ = script.succeed(flight)
    }
    #expect(script.want(21, force: true) == ["error 21 rateLimited", "publish refreshFailed"])
    #expect(script.want(22, TokenTarget(audience: "b")) == ["spend 21 refresh-21 for @b"])
    #expect(script.succeed(21).last == "access-22 for @b 22")
    #expect(script.want(23, force: true) == ["error 23 rateLimited"])
    script.pass(60)
    #expect(script.want(24, force: true) == ["spend 22 refresh-22"])
  }

  @Test func `all targets together are limited, and the session is refreshed all the same`() {
    var script = SessionScript()
    _ = script.restart()
    for number in 1...100 as ClosedRange<UInt64> {
      #expect(script.want(number, TokenTarget(audience: "t\(number)")).count == 1)
      _ = script.succeed(number)
    }
    #expect(script.want(200, TokenTarget(audience: "more")) == ["error 200 rateLimited"])
    #expect(script.machine.activity == .resting)
    #expect(script.want(201, force: true) == ["spend 101 refresh-101"])
  }

  @Test func `refusals that may mean the session do not use up its breaker`() {
    var script = SessionScript()
    _ = script.restart()
    var flight: UInt64 = 0
    for number in 1...30 as ClosedRange<UInt64> {
      flight += 1
      _ = script.want(number, TokenTarget(audience: "t\(number)"))
      #expect(script.fail(flight, .sessionEnded(.refreshRejected)).count == 1)
      flight += 1
      #expect(script.succeed(flight).last == "error \(number) insufficientScope")
    }
    #expect(script.want(50, force: true).count == 1)
  }
}
