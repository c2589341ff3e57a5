import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Sessions that end because no client uses them.
@Suite(.standardTimeLimit) struct IdleTimeoutTests {
  private static let rules = SessionRules(
    expiry: ExpiryPolicy(refreshesInBackground: false), idleTimeout: .seconds(600))

  private func script(_ change: (inout LivingSession) -> Void = { $0.lastUsedAt = SessionScript.start.wall })
    -> SessionScript
  {
    var script = SessionScript(Self.rules, SessionScript.record(change))
    _ = script.restart()
    return script
  }

  private static let end = ["discard access-1", "save ended idleTimeout 8 announcing sessionExpired"]

  @Test func `a session that nobody uses ends in time, and its provider is told`() {
    var script = script()
    #expect(script.nextWake == 600)
    script.pass(599)
    #expect(script.play(.woken).isEmpty)
    script.pass(1)
    #expect(script.play(.woken) == Self.end)
    #expect(script.want(1) == ["error 1 sessionExpired"])
  }

  @Test func `a session that has ended so does not end once more with a login that cannot be saved`() {
    var script = script()
    script.pass(600)
    #expect(script.play(.woken) == Self.end)
    script.storeWorks = false
    let session = ProviderSession(tokens: ScriptedProvider.tokens(2, now: script.now.wall), user: nil)
    let actions = script.play(.loginAccepted(session, method: "password"))
    #expect(actions == ["save living 9 announcing login", "save ended idleTimeout 10"])
  }

  @Test func `a use just too late comes too late`() {
    var script = script()
    script.pass(600)
    #expect(script.play(.used(at: script.now.uptime)).isEmpty)
    #expect(script.want(1) == Self.end + ["error 1 sessionExpired"])
  }

  @Test func `each use begins the time anew, whatever the wall clock shows`() {
    var script = script()
    script.pass(500)
    _ = script.want(1)
    script.setClock(by: -100_000)
    script.pass(599)
    #expect(script.play(.woken).allSatisfy { $0.hasPrefix("save living") })
    #expect(script.machine.living != nil)
    script.setClock(by: 1_000_000)
    #expect(script.play(.clockWasSet).allSatisfy { $0.hasPrefix("save living") })
    #expect(script.machine.living != nil)
    script.pass(1)
    #expect(script.play(.woken).contains { $0.hasPrefix("save ended idleTimeout") })
  }

  @Test func `a clock that is set has the last use written down by it, for the next start`() {
    for (step, hasEnded) in [(-100_000, true), (100_000, true), (-100_000, false), (100_000, false)] {
      var script = script()
      script.pass(10)
      _ = script.want(1)
      #expect(script.play(.woken) == ["save living 8"])
      script.setClock(by: step)
      #expect(script.play(.clockWasSet) == ["save living 9"])
      #expect(script.play(.clockWasSet) == ["save living 10"])
      #expect(script.play(.woken).isEmpty)
      script.pass(hasEnded ? 601 : 599)
      _ = script.restart()
      #expect((script.machine.living == nil) == hasEnded)
    }
  }

  @Test func `a clock that is set while the last use is being written down has it written once more`() {
    var script = script()
    script.pass(10)
    _ = script.want(1)
    var machine = script.machine
    #expect(machine.handle(.woken, at: script.now).summary == ["save living 8"])
    script.setClock(by: 100_000)
    #expect(machine.handle(.clockWasSet, at: script.now).isEmpty)
    _ = machine.handle(.saved(generation: 8), at: script.now)
    #expect(machine.nextWake(at: script.now) == script.now.uptime)
    #expect(machine.handle(.woken, at: script.now).summary == ["save living 9"])
  }

  @Test func `a use is written down soon, and then at most once a minute`() {
    var script = script()
    script.pass(10)
    _ = script.want(1)
    #expect(script.nextWake == 0)
    #expect(script.play(.woken) == ["save living 8"])
    guard case .living(let session)? = script.stored?.contents else {
      Issue.record("no living record")
      return
    }
    #expect(session.lastUsedAt == script.now.wall)
    #expect(script.machine.mustSeeNextUse)
    script.pass(1)
    _ = script.want(2)
    #expect(!script.machine.mustSeeNextUse)
    #expect(script.nextWake == 59)
    script.pass(59)
    #expect(script.play(.woken) == ["save living 9"])
    #expect(script.nextWake == 541)
  }

  @Test func `what was written down counts after a restart, with the time in between`() {
    var script = script()
    script.pass(10)
    _ = script.want(1)
    _ = script.play(.woken)
    script.pass(599)
    #expect(script.restart().isEmpty)
    #expect(script.nextWake == 1)
    script.pass(1)
    #expect(script.restart() == ["discard access-1", "save ended idleTimeout 9 announcing sessionExpired"])
  }

  @Test func `a session of which no use is known has just been used, and that is written down`() {
    var script = script { $0.lastUsedAt = nil }
    #expect(script.nextWake == 0)
    #expect(script.play(.woken) == ["save living 8"])
    script.pass(300)
    #expect(script.restart().isEmpty)
    #expect(script.nextWake == 300)
  }

  @Test func `a note that cannot be saved is tried again later, and holds up nothing`() {
    var script = script()
    script.pass(10)
    _ = script.want(1)
    script.storeWorks = false
    #expect(script.play(.woken) == ["save living 8"])
    #expect(!script.machine.isStoreDegraded && script.machine.settledGeneration == 8)
    #expect(script.nextWake == 60)
    script.storeWorks = true
    script.pass(60)
    #expect(script.play(.woken) == ["save living 9"])
  }

  @Test func `no note is written while an intent is open: it would close it`() {
    var script = script()
    script.pass(10)
    _ = script.want(1, force: true)
    _ = script.fail(1, .outcomeUnknown(.timeout))
    #expect(script.play(.woken).isEmpty)
    #expect(script.intent != nil)
    #expect(script.nextWake == 600)
  }

  @Test func `a refresh writes the last use down for nothing`() {
    var script = script()
    script.pass(10)
    _ = script.want(1, force: true)
    _ = script.succeed(1)
    #expect(script.machine.living?.lastUsedAt == script.now.wall)
    #expect(script.nextWake == 600)
  }

  @Test func `the end comes in the middle of a refresh, and what that brings is given back`() {
    var script = script()
    _ = script.want(1, force: true)
    script.pass(600)
    #expect(
      script.play(.woken) == [
        "discard access-1", "save ended idleTimeout 8 announcing sessionExpired", "error 1 sessionExpired",
      ])
    #expect(script.succeed(1) == ["discard access-2"])
  }

  @Test func `uses that were not written down count: a timeout that begins with a start begins with a use`() {
    let untimed = SessionRules(expiry: ExpiryPolicy(refreshesInBackground: false))
    var script = SessionScript(untimed, nil)
    let session = ProviderSession(tokens: ScriptedProvider.tokens(1, now: script.now.wall), user: nil)
    _ = script.play(.loginAccepted(session, method: "password"))
    script.pass(700)
    _ = script.want(1)
    script.pass(10)
    #expect(script.restart(Self.rules).isEmpty)
    #expect(script.machine.living != nil && script.machine.idleEnd == script.now.uptime + .seconds(600))
  }

  @Test func `what an earlier timeout has left behind is removed by the first use without one`() {
    let untimed = SessionRules(expiry: ExpiryPolicy(refreshesInBackground: false))
    var script = script()
    script.pass(10)
    _ = script.want(1)
    #expect(script.play(.woken) == ["save living 8"])
    #expect(script.restart(untimed).isEmpty)
    #expect(script.play(.woken).isEmpty)
    script.pass(800)
    _ = script.want(2)
    #expect(script.play(.woken) == ["save living 9"])
    #expect(script.play(.woken).isEmpty)
    #expect(script.restart(Self.rules).isEmpty)
    #expect(script.machine.living != nil)
  }

  @Test func `a timeout that is configured later begins with that`() {
    var script = SessionScript()
    _ = script.restart()
    script.pass(500)
    #expect(script.play(.rulesChanged(SessionRules(idleTimeout: .seconds(60)))) == ["save living 8"])
    #expect(script.nextWake == 60)
    #expect(script.play(.rulesChanged(SessionRules())).isEmpty)
    script.pass(100)
    #expect(script.play(.woken).isEmpty)
  }
}
