import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// What a broker that is given another configuration takes up of what rests.
@Suite(.standardTimeLimit) struct ReconfigurationTests {
  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  private static func reconfigure(_ harness: ServerHarness, _ name: ProfileName) {
    let settings = [ProfileSettings(name: name, provider: harness.provider)]
    harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
    harness.settle()
  }

  @Test func `a profile that comes back has its session again`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
      let work = try #require(ProfileName("work"))
      for name in [work, .default] {
        Self.reconfigure(harness, name)
        let answer = client.ask(Self.call("getAccessToken")).first ?? ""
        #expect(answer.contains(name == work ? "loginRequired" : "access-1"), "\(answer)")
      }
    }
  }

  @Test func `an idle timeout holds from when it is configured, and knows the uses before`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
      _ = client.ask(Self.call("getAccessToken"))
      harness.clock.advance(by: .seconds(100))
      _ = client.ask(Self.call("getAccessToken"))
      harness.clock.advance(by: .seconds(100))
      let rules = SessionRules(idleTimeout: .seconds(150))
      let settings = ProfileSettings(name: .default, provider: harness.provider, rules: rules)
      harness.broker.assumeIsolated { $0.reconfigureSoon([settings]) }
      harness.settle()
      // 08:00 was the login, 08:01:40 the last use.
      #expect(
        client.ask(Self.call("getSession")).first?.contains(#""idleExpiresAt":"2027-01-15T08:04:10Z""#) == true)
      harness.clock.advance(by: .seconds(50))
      harness.settle()
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("sessionExpired") == true)
    }
  }

  @Test(arguments: [nil, StoreFailure.failed(context: "a full disk")])
  func `what a refresh brings is saved, though its profile has gone meanwhile`(_ failure: StoreFailure?) async throws {
    try await OwnThread.run {
      let (harness, work) = (try ServerHarness(), try #require(ProfileName("work")))
      let client = try harness.connect()
      _ = client.ask(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
      harness.provider.hold()
      client.send(Self.call("getAccessToken", #"{"forceRefresh":true}"#) + "\n")
      Self.reconfigure(harness, work)
      #expect(client.lines().first?.contains("unknownProfile") == true)
      harness.store.failure = failure
      harness.provider.release()
      harness.settle()
      harness.store.failure = nil
      harness.clock.advance(by: .seconds(60))
      harness.settle()
      #expect(harness.store.records.map(\.generation) == [2] && harness.store.intents.isEmpty)
      Self.reconfigure(harness, .default)
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-2") == true)
      #expect(!harness.broker.assumeIsolated { $0.hasWork })
    }
  }

  @Test func `a profile that comes back in the middle of its refresh goes on with it`() async throws {
    try await OwnThread.run {
      let (harness, work) = (try ServerHarness(), try #require(ProfileName("work")))
      let client = try harness.connect()
      _ = client.ask(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
      harness.provider.hold()
      client.send(Self.call("getAccessToken", #"{"forceRefresh":true}"#) + "\n")
      for name in [work, .default] {
        Self.reconfigure(harness, name)
      }
      _ = client.lines()
      harness.provider.release()
      harness.settle()
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-2") == true)
      #expect(harness.store.records.map(\.generation) == [2])
    }
  }

  @Test func `a login that waits for its code is not touched`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      harness.provider.setWantsCode(true)
      let client = try harness.connect()
      _ = client.ask(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
      Self.reconfigure(harness, .default)
      let answer = client.ask(Self.call("verifyOtp", #"{"otpFlowId":"handle-1","code":"123456"}"#)).first
      #expect(answer?.contains("authenticated") == true)
    }
  }

  @Test func `a login whose profile has gone meanwhile is given back`() async throws {
    try await OwnThread.run {
      let (harness, work) = (try ServerHarness(), try #require(ProfileName("work")))
      let client = try harness.connect()
      harness.provider.hold()
      client.send(Self.call("login", #"{"email":"a@example.test","password":"right"}"#) + "\n")
      Self.reconfigure(harness, work)
      harness.provider.release()
      #expect(client.lines().first?.contains("cancelled") == true)
      #expect(harness.provider.revocationLedger.map(\.token) == ["refresh-1"])
    }
  }
}

extension Broker {
  /// Takes up other profiles on the broker's own executor, which the test turns.
  func reconfigureSoon(_ profiles: [ProfileSettings]) {
    Task { try await reconfigure(profiles) }
  }
}
