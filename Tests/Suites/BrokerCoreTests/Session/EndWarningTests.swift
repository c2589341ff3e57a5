import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// The warning before a session's own end: once, in time, and not of what a refresh puts off.
@Suite(.standardTimeLimit) struct EndWarningTests {
  private static let quiet = ExpiryPolicy(refreshesInBackground: false)
  private static let warned = ["save living 8 announcing sessionEnding"]

  /// A session of a day that is warned of so many seconds before its end.
  private func script(
    warning seconds: Int = 3600, _ expiry: ExpiryPolicy = Self.quiet, _ change: (inout LivingSession) -> Void = { _ in }
  ) -> SessionScript {
    let rules = SessionRules(expiry: expiry, warnBeforeEnd: .seconds(seconds))
    var script = SessionScript(rules, SessionScript.record(change))
    _ = script.restart()
    return script
  }

  @Test func `a session is warned of once, and a restart does not repeat it`() {
    var script = script()
    #expect(script.nextWake == 82_800)
    script.pass(82_799)
    #expect(script.play(.woken).isEmpty)
    script.pass(1)
    #expect(script.play(.woken) == Self.warned)
    #expect(script.nextWake == nil && script.play(.woken).isEmpty)
    #expect(script.restart().isEmpty && script.nextWake == nil && script.play(.woken).isEmpty)
  }

  @Test func `the warning says when the session ends, as its provider has said`() {
    var script = script()
    script.pass(82_000)
    script.setClock(by: 300)
    script.pass(800)
    let actions = script.machine.handle(.woken, at: script.now)
    guard case .save(_, announcing: let events)? = actions.first, case .sessionEnding(let event)? = events.first else {
      Issue.record("\(actions.summary)")
      return
    }
    #expect(event.endsAt == SessionScript.start.wall + .seconds(86_400))
  }

  @Test func `an end that a refresh puts off is warned of again, and one that it does not put off is not`() {
    var script = script()
    let end = SessionScript.start.wall + .seconds(86_400)
    script.pass(82_800)
    #expect(script.play(.woken) == Self.warned)
    _ = script.want(1, force: true)
    _ = script.succeed(1) { $0.refreshTokenExpiresAt = end }
    #expect(script.nextWake == nil)
    _ = script.want(2, force: true)
    _ = script.succeed(2)
    #expect(script.nextWake == 82_800)
  }

  @Test func `a session that lives no longer than that is warned of at a quarter of its life`() {
    #expect(script(warning: 86_400).nextWake == 64_800)
    #expect(script(warning: 604_800).nextWake == 64_800)
  }

  @Test func `a session that is renewed in time is never warned of`() {
    var script = script(warning: 86_400, ExpiryPolicy()) {
      $0.tokens.refreshTokenExpiresAt = SessionScript.start.wall + .seconds(1800)
    }
    var (flight, said) = (UInt64(0), [String]())
    while flight < 50, let wake = script.nextWake {
      script.pass(Int(max(wake, 0)) + 1)
      let (actions, now) = (script.play(.woken), script.now.wall)
      said += actions
      guard actions.contains(where: { $0.hasPrefix("spend") }) else { continue }
      flight += 1
      said += script.succeed(flight) { $0.refreshTokenExpiresAt = now + .seconds(1800) }
    }
    #expect(flight == 50 && !said.contains { $0.contains("sessionEnding") })
  }

  @Test func `an access token that nothing can renew is the session's end`() {
    var script = script { $0.tokens.refreshToken = nil }
    #expect(script.nextWake == 675)
    script.pass(675)
    #expect(script.play(.woken) == Self.warned)
    script.pass(225)
    #expect(script.play(.woken) == ["publish sessionExpired"])
  }

  @Test func `no warning comes of an unknown end, of one that is over, or where none is wanted`() {
    #expect(script { $0.tokens.refreshTokenExpiresAt = nil }.nextWake == nil)
    #expect(script(warning: 0).nextWake == nil)
    var late = script()
    late.pass(86_400)
    #expect(late.play(.woken).isEmpty && late.nextWake == nil)
    var unattended = script { $0.tokens.refreshToken = nil }
    unattended.machine.isUnattended = true
    #expect(unattended.nextWake == 900)
  }

  @Test func `where no record can be written the warning is told all the same, and again after a restart`() {
    var script = script()
    script.pass(82_800)
    script.storeWorks = false
    #expect(script.play(.woken) == Self.warned + ["publish sessionEnding"])
    #expect(script.play(.woken).isEmpty && script.nextWake == nil)
    script.storeWorks = true
    _ = script.restart()
    #expect(script.play(.woken) == Self.warned)
  }

  @Test func `while the outcome of a refresh is unknown the warning writes no record over what may be newer`() {
    var script = script()
    _ = script.want(1, force: true)
    _ = script.fail(1, .outcomeUnknown(.timeout, retryAfter: nil))
    script.pass(82_800)
    #expect(script.play(.woken) == ["publish sessionEnding"])
    #expect(script.play(.woken).isEmpty)
  }

  @Test func `other rules count at once`() {
    var script = script(warning: 0)
    script.pass(82_800)
    let rules = SessionRules(expiry: Self.quiet, warnBeforeEnd: .seconds(7200))
    #expect(script.play(.rulesChanged(rules)) == Self.warned)
  }
}
