import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Sessions that are refreshed in the background because they were used lately, whoever has started the broker since.
@Suite(.standardTimeLimit) struct KeepAliveTests {
  private static let day = 86_400

  private func script(_ days: Int, _ change: @escaping (inout LivingSession) -> Void = { _ in }) -> SessionScript {
    let rules = SessionRules(keepAlive: .seconds(days * Self.day))
    var script = SessionScript(rules, SessionScript.record(change))
    script.boot = "first"
    _ = script.restart()
    return script
  }

  /// Lets the background do what it wants to, for so many seconds; how many refreshes that took.
  private func run(_ script: inout SessionScript, for seconds: Int) -> Int {
    let end = script.now.uptime + .seconds(seconds)
    var flights = 0
    while let wake = script.nextWake, script.now.uptime + .seconds(wake) < end {
      script.pass(Int(max(wake, 0)) + 1)
      let actions = script.play(.woken)
      guard let spend = actions.first(where: { $0.hasPrefix("spend") }),
        let flight = UInt64(spend.split(separator: " ")[1])
      else { continue }
      flights += 1
      _ = script.succeed(flight)
    }
    script.pass(max(Int((end - script.now.uptime).components.seconds), 0))
    return flights
  }

  @Test func `a session that no caller has asked for since the start is refreshed in time`() {
    var script = script(30)
    #expect(script.nextWake == 720)
    #expect(run(&script, for: Self.day) > 100)
  }

  @Test func `a session that was used within the time is kept alive, and no longer`() {
    var script = script(2)
    _ = script.want(1)
    #expect(run(&script, for: 2 * Self.day) > 200)
    #expect(run(&script, for: Self.day) == 0)
    #expect(script.machine.mustSeeNextUse)
    // Its next use finds it, and asks.
    #expect(script.want(2).first?.hasPrefix("spend") == true)
  }

  @Test func `what counts is the use, not the refreshes, also after a start`() {
    var script = script(2)
    script.pass(4000)
    _ = script.want(1)
    _ = script.succeed(1)
    let used = script.now.uptime
    #expect(run(&script, for: Self.day) > 100)
    #expect(script.restart().isEmpty)
    #expect(run(&script, for: Self.day) > 90)
    #expect(script.now.uptime - used >= .seconds(2 * Self.day))
    #expect(run(&script, for: Self.day) == 0)
  }

  @Test func `a start of the machine forgets nothing of it`() {
    var script = script(2)
    script.pass(4000)
    _ = script.want(1)
    _ = script.succeed(1)
    script.pass(Self.day)
    script.now.uptime = .seconds(20)
    script.boot = "second"
    _ = script.restart()
    #expect(script.play(.woken) == ["spend 1 refresh-2"])
    _ = script.succeed(1)
    #expect(run(&script, for: 2 * Self.day) < 130)
  }

  @Test func `the last use is written down at most once an hour`() {
    // Tokens that are not refreshed for a long time: nothing else writes the record.
    var script = script(30) { $0.tokens.accessTokenExpiresAt = SessionScript.start.wall + .seconds(10 * Self.day) }
    var saves = 0
    for number in 1...UInt64(5 * 3600 / 10) {
      script.pass(10)
      _ = script.want(number)
      if let wake = script.nextWake, wake <= 0 { saves += script.play(.woken).count { $0.hasPrefix("save living") } }
    }
    #expect((4...5).contains(saves))
    guard case .living(let session)? = script.stored?.contents else {
      Issue.record("no living record")
      return
    }
    #expect(session.lastUsedAt == nil && session.roughlyUsedAt.map { script.now.wall - $0 <= .seconds(3600) } == true)
  }

  @Test func `without a time nothing is refreshed that nobody uses`() {
    var script = script(0)
    _ = script.want(1)
    #expect(run(&script, for: Self.day) == 0)
    #expect(script.want(2) == ["spend 1 refresh-1"])
  }
}
