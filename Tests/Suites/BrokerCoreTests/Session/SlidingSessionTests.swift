import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Refresh tokens that end with or before the access token, and are renewed with it.
@Suite(.standardTimeLimit) struct SlidingSessionTests {
  /// A session of which the access token lives for 60 s and the refresh token for 25 s, as far as it is not renewed.
  private func script(inBackground: Bool) -> SessionScript {
    let rules = SessionRules(expiry: ExpiryPolicy(refreshesInBackground: inBackground))
    var script = SessionScript(
      rules, SessionScript.record { Self.shorten(&$0.tokens, SessionScript.start.wall) })
    _ = script.restart()
    return script
  }

  private static func shorten(_ tokens: inout TokenSet, _ now: Timestamp) {
    tokens.accessTokenExpiresAt = now + .seconds(60)
    tokens.refreshTokenExpiresAt = now + .seconds(25)
  }

  private func answer(_ actions: [String], _ script: inout SessionScript, _ flight: inout UInt64) {
    guard actions.contains(where: { $0.hasPrefix("spend") }) else { return }
    flight += 1
    let now = script.now.wall
    _ = script.succeed(flight) { Self.shorten(&$0, now) }
  }

  @Test(arguments: [true, false])
  func `a session that is asked for twice a second outlives its refresh tokens`(_ inBackground: Bool) {
    var script = script(inBackground: inBackground)
    var (flight, sentAt) = (UInt64(0), script.now.uptime)
    for number in 1...1200 as ClosedRange<UInt64> {
      if let wake = script.nextWake, wake <= 0 { answer(script.play(.woken), &script, &flight) }
      let actions = script.want(number)
      #expect(actions.first == "token \(number)")
      let before = flight
      answer(actions, &script, &flight)
      if flight > before { sentAt = script.now.uptime }
      #expect(script.now.uptime - sentAt < .seconds(25) || inBackground)
      script.passMilliseconds(500)
    }
    // Ten minutes: a refresh each 16 s or so, and no more.
    #expect((30...42).contains(flight))
  }

  @Test func `a refresh that names no lifetime has that of the one before`() {
    var script = SessionScript()
    _ = script.restart()
    script.pass(100)
    _ = script.want(1, force: true)
    _ = script.succeed(1) { $0.accessTokenExpiresAt = nil }
    #expect(lifetime(script) == lifetime(SessionScript()))
    script.pass(100)
    _ = script.want(2, force: true)
    _ = script.succeed(2) { $0.accessTokenExpiresAt = nil }
    #expect(lifetime(script) == lifetime(SessionScript()) && lifetime(script) != nil)
  }

  private func lifetime(_ script: SessionScript) -> Duration? {
    guard case .living(let session)? = script.stored?.contents else { return nil }
    return session.tokens.accessTokenExpiresAt.map { $0 - session.issuedAt }
  }

  @Test func `without a caller the background does the same`() {
    var script = script(inBackground: true)
    var flight: UInt64 = 0
    while flight < 10, let wake = script.nextWake {
      script.pass(Int(wake) + 1)
      answer(script.play(.woken), &script, &flight)
    }
    #expect(flight == 10)
    #expect(script.now.uptime - SessionScript.start.uptime < .seconds(10 * 20))
  }

  @Test func `a session whose end no refresh puts off is not refreshed more and more often`() {
    let end = SessionScript.start.wall + .seconds(3600)
    var script = SessionScript(SessionRules(), SessionScript.record { $0.tokens.refreshTokenExpiresAt = end })
    _ = script.restart()
    var flight: UInt64 = 0
    while let wake = script.nextWake, script.now.uptime - SessionScript.start.uptime < .seconds(3500) {
      script.pass(Int(max(wake, 0)) + 1)
      guard script.play(.woken).contains(where: { $0.hasPrefix("spend") }) else { continue }
      flight += 1
      _ = script.succeed(flight) { $0.refreshTokenExpiresAt = end }
    }
    #expect((4...7).contains(flight))
  }
}
