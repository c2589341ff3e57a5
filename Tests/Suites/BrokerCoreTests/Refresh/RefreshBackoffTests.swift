import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// How long a session waits after failures: what no caller has asked for as long as the provider may want, a caller for
/// some seconds.
@Suite(.standardTimeLimit) struct RefreshBackoffTests {
  /// A session whose refreshes have failed so often that the schedule waits for minutes, and the number of the last flight.
  private static func tried(
    _ failure: ProviderFailure, times: Int = 10
  ) -> (script: SessionScript, flight: UInt64) {
    var script = SessionScript()
    _ = script.restart()
    script.pass(60)
    for flight in 1...UInt64(times) {
      _ = script.want(1, force: true)
      _ = script.fail(flight, failure, jitter: 1)
      script.pass(10)
    }
    return (script, UInt64(times))
  }

  private static let unavailable = ProviderFailure.transient(.providerUnavailable)

  @Test func `a caller's request is sent every few seconds, however long the schedule waits`() {
    var (script, flight) = Self.tried(Self.unavailable)
    #expect(script.want(2, force: true) == ["spend \(flight + 1) refresh-1"])
    _ = script.fail(flight + 1, Self.unavailable, jitter: 1)
    script.pass(9)
    #expect(script.want(3, force: true) == ["error 3 providerUnavailable"])
    #expect(script.nextWake.map { $0 > 200 } == true)
    script.pass(1)
    #expect(script.want(4) == ["offline token 4"])
    #expect(script.want(5, force: true) == ["spend \(flight + 2) refresh-1"])
  }

  @Test func `a wish of the provider's binds the schedule for an hour at most, and a caller for a minute`() {
    for (wish, forSchedule, forCallers) in [(20, 20, 20), (600, 600, 60), (86_400, 3600, 60)] {
      var script = SessionScript(SessionRules(), SessionScript.record { $0.tokens.accessTokenExpiresAt = nil })
      _ = script.restart()
      _ = script.want(1, force: true)
      _ = script.fail(1, .transient(.rateLimited, retryAfter: .seconds(wish)), jitter: 1)
      #expect(script.nextWake == Int64(forSchedule))
      script.pass(forCallers - 1)
      #expect(script.want(2, force: true) == ["error 2 rateLimited"])
      script.pass(1)
      #expect(script.want(3, force: true) == ["spend 2 refresh-1"], "\(wish)")
    }
  }

  @Test(
    arguments: [
      (.transient(.networkUnavailable), [.reached, .serving, .accepting]), (unavailable, [.serving, .accepting]),
      (.transient(.invalidResponse), [.serving, .accepting]), (.misconfigured(.client), [.accepting]),
      (.transient(.rateLimited, retryAfter: .seconds(3000)), []),
    ] as [(ProviderFailure, [ProviderCondition])])
  func `the wait ends as soon as the provider is seen to be well enough`(
    _ failure: ProviderFailure, _ ends: [ProviderCondition]
  ) {
    for condition in ProviderCondition.allCases {
      var (script, flight) = Self.tried(failure)
      let sent = script.play(.providerSeen(condition))
      #expect(sent == (ends.contains(condition) ? ["spend \(flight + 1) refresh-1"] : []), "\(failure) \(condition)")
    }
  }

  @Test func `a session that is refused for a reason of its own is asked no more often than for a caller`() {
    var (script, flight) = Self.tried(Self.unavailable)
    _ = script.play(.providerSeen(.accepting))
    _ = script.fail(flight + 1, Self.unavailable, jitter: 1)
    for _ in 0..<9 {
      #expect(script.play(.providerSeen(.accepting)).isEmpty)
      script.pass(1)
    }
    script.pass(1)
    #expect(script.play(.woken) == ["spend \(flight + 2) refresh-1"])
  }

  @Test(
    arguments: [
      .misconfigured(.client), .credentialMissing(MissingCredential("x", "y")), unavailable,
      .transient(.rateLimited, retryAfter: .seconds(3000)),
    ] as [ProviderFailure])
  func `another configuration ends every wait`(_ failure: ProviderFailure) {
    var (script, flight) = Self.tried(failure, times: failure.retryAfter == nil ? 10 : 1)
    #expect(script.play(.rulesChanged(SessionRules())) == ["spend \(flight + 1) refresh-1"])
    _ = script.fail(flight + 1, failure, jitter: 1)
    #expect(script.want(2, force: true).count == 1)
  }

  @Test func `what other profiles have learnt holds back the schedule, and no caller`() {
    var script = SessionScript()
    _ = script.restart()
    _ = script.want(1)
    script.machine.providerRest = script.now.uptime + .seconds(880)
    script.pass(870)
    #expect(script.nextWake == 10)
    #expect(script.play(.woken).isEmpty)
    #expect(script.want(2, force: true) == ["spend 1 refresh-1"])
  }
}
