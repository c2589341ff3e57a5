import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing
import Transport

/// Networks that go and come back, and providers that are slow or dead.
@Suite(.standardTimeLimit) struct NetworkTests {
  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  private static func login(_ profile: String = "default") -> String {
    call("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#)
  }

  private static let forced = call("getAccessToken", #"{"forceRefresh":true}"#)

  /// The names of the events among some lines.
  private static func events(_ lines: [String]) -> [String] {
    lines.compactMap { line in
      line.split(separator: #""event":""#).dropFirst().first.map { String($0.prefix { $0 != "\"" }) }
    }
  }

  /// A logged-in client, and one that watches.
  private static func begin(_ harness: ServerHarness) throws -> (client: TestClient, watcher: TestClient) {
    let (client, watcher) = (try harness.connect(), try harness.connect())
    _ = client.ask(login())
    _ = watcher.ask(call("subscribe"))
    return (client, watcher)
  }

  @Test func `a network that goes and comes back is told of once, and is no reason to log in`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, watcher) = try Self.begin(harness)
      harness.provider.setRefresh(.fails(.transient(.networkUnavailable)))
      #expect(client.ask(Self.forced).first?.contains("networkUnavailable") == true)
      #expect(Self.events(watcher.lines()) == ["refreshFailed", "networkDown"])
      // Half awake after a long sleep: the token has ended, and the network is not there yet.
      harness.clock.suspend(for: .seconds(7200))
      for _ in 0..<10 {
        harness.clock.advance(by: .seconds(60))
        let answer = client.ask(Self.call("getAccessToken")).first ?? ""
        #expect(answer.contains("networkUnavailable") && !answer.contains(#""nextAction":"login""#), "\(answer)")
      }
      #expect(client.ask(Self.call("getSession")).first?.contains(#""state":"offline""#) == true)
      #expect(Set(Self.events(watcher.lines())) == ["refreshFailed"])
      harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      harness.broker.assumeIsolated { $0.networkMayHaveChanged() }
      harness.settle()
      #expect(Self.events(watcher.lines()) == ["networkUp", "tokenRefreshed"])
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-2") == true)
    }
  }

  @Test func `a change of the network brings one attempt, and none to a provider that was reached`() async throws {
    try await OwnThread.run {
      for (failure, expected) in [
        (ProviderFailure.transient(.networkUnavailable), 2), (.transient(.timeout), 2),
        (.transient(.providerUnavailable), 1), (.transient(.rateLimited, retryAfter: .seconds(60)), 1),
        (.transient(.invalidResponse), 1), (.outcomeUnknown(.networkUnavailable), 1),
      ] {
        let harness = try ServerHarness()
        let (client, _) = try Self.begin(harness)
        harness.provider.setRefresh(.fails(failure))
        _ = client.ask(Self.forced)
        harness.broker.assumeIsolated { $0.networkMayHaveChanged() }
        harness.settle()
        #expect(harness.provider.spentTokens.count == expected, "\(failure)")
      }
    }
  }

  @Test func `changes of the network make no loop: the breaker holds`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, _) = try Self.begin(harness)
      harness.provider.setRefresh(.fails(.transient(.networkUnavailable)))
      _ = client.ask(Self.forced)
      for _ in 0..<100 {
        harness.broker.assumeIsolated { $0.networkMayHaveChanged() }
        harness.settle()
      }
      #expect(harness.provider.spentTokens.count == RefreshBudget.limit)
    }
  }

  @Test func `one profile that reaches its provider again lets the others try`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["default", "work"])
      let client = try harness.connect()
      for profile in ["default", "work"] { _ = client.ask(Self.login(profile)) }
      harness.provider.setRefresh(.fails(.transient(.networkUnavailable)))
      for profile in ["default", "work"] {
        _ = client.ask(Self.call("getAccessToken", #"{"profile":"\#(profile)","forceRefresh":true}"#))
      }
      let before = harness.provider.spentTokens.count
      harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      #expect(client.ask(Self.login()).first?.contains("authenticated") == true)
      harness.settle()
      #expect(harness.provider.spentTokens.count == before + 1)
      let session = client.ask(Self.call("getSession", #"{"profile":"work"}"#)).first ?? ""
      #expect(session.contains(#""state":"authenticated""#))
    }
  }

  @Test func `a provider that never answers holds up no other profile`() async throws {
    try await OwnThread.run {
      let (harness, work) = (try ServerHarness(), try #require(ProfileName("work")))
      let loop = harness.loop
      let other = ScriptedProvider(clock: harness.clock, gate: GateExecutor { loop.post($0) }, type: "other")
      let settings = [
        ProfileSettings(name: .default, provider: harness.provider), ProfileSettings(name: work, provider: other),
      ]
      harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
      harness.settle()
      let (stuck, client) = (try harness.connect(), try harness.connect())
      _ = stuck.ask(Self.login())
      harness.provider.hold()
      stuck.send(Self.call("getAccessToken", #"{"profile":"default","forceRefresh":true}"#) + "\n")
      stuck.send(Self.login() + "\n" + Self.call("getCurrentUser", #"{"profile":"default","maxAgeSeconds":0}"#) + "\n")
      stuck.send(Self.call("logout", #"{"profile":"default"}"#) + "\n")
      let requests = [
        (Self.login("work"), "authenticated"),
        (Self.call("getAccessToken", #"{"profile":"work","forceRefresh":true}"#), "access-2"),
        (Self.call("getCurrentUser", #"{"profile":"work","maxAgeSeconds":0}"#), "user-1"),
        (Self.call("getSession", #"{"profile":"work"}"#), "authenticated"),
        (Self.call("logout", #"{"profile":"work"}"#), #""serverRevoked":"yes""#),
      ]
      for (request, expected) in requests {
        let answer = answer(to: request, client)
        #expect(answer.contains(expected), "\(answer)")
      }
      #expect(harness.provider.waitingCalls > 0)
      harness.provider.release()
      harness.settle()
    }
  }

  /// The one answer to a request, while a provider is held: the harness waits for nothing then.
  private func answer(to request: String, _ client: TestClient) -> String {
    client.send(request + "\n")
    var line: String?
    _ = Patience.wait {
      line = client.lines().first
      return line != nil
    }
    return line ?? "no answer"
  }
}
