import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// Clocks that are set, and machines that sleep.
@Suite(.standardTimeLimit) struct ClockTests {
  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  private static func login(_ profile: String = "default") -> String {
    call("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#)
  }

  @Test func `a login that waits for its code ends when the clock is set past its end, without time passing`()
    async throws
  {
    try await OwnThread.run {
      let harness = try ServerHarness()
      harness.provider.setWantsCode(true)
      _ = try harness.connect().ask(Self.login())
      #expect(harness.broker.assumeIsolated { $0.isBusy })
      harness.clock.set(by: .seconds(299))
      harness.settle()
      #expect(harness.broker.assumeIsolated { $0.isBusy })
      harness.clock.set(by: .seconds(1))
      harness.settle()
      #expect(!harness.broker.assumeIsolated { $0.isBusy })
    }
  }

  @Test func `a clock that is set to and fro costs nothing: no refresh, no timer left behind`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      let timers = harness.clock.timerCount
      for difference in [60, -60, -86400, 86400] {
        harness.clock.set(by: .seconds(difference))
        harness.settle()
        #expect(harness.clock.timerCount == timers)
      }
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-1") == true)
      #expect(harness.provider.spentTokens.isEmpty)
    }
  }

  @Test func `after a long sleep tokens are refreshed for who asks at once, for the others in turn`() async throws {
    try await OwnThread.run {
      let names = ["a", "b", "c", "d"]
      let harness = try ServerHarness(profiles: names)
      let client = try harness.connect()
      for name in names { _ = client.ask(Self.login(name)) }
      harness.clock.suspend(for: .seconds(3000))
      harness.settle()
      #expect(harness.provider.spentTokens.isEmpty)
      let answer = client.ask(Self.call("getAccessToken", #"{"profile":"a"}"#)).first
      #expect(answer?.contains("access-5") == true)
      #expect(harness.provider.spentTokens.count == 1)
      harness.clock.advance(by: .seconds(5))
      harness.settle()
      #expect(harness.provider.spentTokens.count == 4)
      #expect(client.ask(Self.call("listSessions")).first?.contains("expired") == false)
    }
  }

  @Test func `what waits by uptime goes on through a sleep`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.setRefresh(.fails(.transient(.providerUnavailable, retryAfter: .seconds(600))))
      _ = client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#))
      harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      // The clock tells nothing of how long somebody has waited.
      harness.clock.set(by: .seconds(599))
      harness.clock.advance(by: .seconds(5))
      harness.settle()
      #expect(harness.provider.spentTokens.count == 1)
      harness.clock.suspend(for: .seconds(590))
      harness.clock.advance(by: .seconds(11))
      harness.settle()
      #expect(harness.provider.spentTokens.count == 2)
    }
  }

  @Test func `a provider's clock that is off is told once, and shown while it is`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let shown = #""providerClockSkewSeconds":-3600"#
      let steps: [(Int?, Bool)] = [
        (nil, false), (-60, false), (-3600, true), (-3601, true), (nil, true), (2, false),
      ]
      for (skew, isShown) in steps {
        harness.provider.setClockSkew(skew.map { .seconds($0) })
        _ = client.ask(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
        _ = client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#))
        #expect(client.ask(Self.call("getStatus")).first?.contains(shown) == isShown, "\(String(describing: skew))")
      }
      #expect(harness.reports.all == [.clockSkewed(.default, .seconds(-3600)), .clockSkewed(.default, nil)])
    }
  }
}
