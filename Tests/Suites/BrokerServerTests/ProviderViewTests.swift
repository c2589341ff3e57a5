import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// What is learnt of a provider is learnt once, for all profiles that have it.
@Suite(.standardTimeLimit) struct ProviderViewTests {
  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  private static func login(_ profile: String) -> String {
    call("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#)
  }

  private static func token(_ profile: String, forced: Bool = false) -> String {
    call("getAccessToken", #"{"profile":"\#(profile)","forceRefresh":\#(forced)}"#)
  }

  /// A client that is logged in to some profiles of one provider, each used a moment ago.
  private static func begin(_ profiles: [String]) throws -> (harness: ServerHarness, client: TestClient) {
    let harness = try ServerHarness(profiles: profiles)
    let client = try harness.connect()
    for profile in profiles {
      _ = client.ask(login(profile))
      _ = client.ask(token(profile))
    }
    return (harness, client)
  }

  /// Lets time pass, each second on its own.
  private static func pass(_ seconds: Int, _ harness: ServerHarness) {
    for _ in 0..<seconds {
      harness.clock.advance(by: .seconds(1))
      harness.settle()
    }
  }

  private static let unavailable = ProviderFailure.transient(.providerUnavailable)

  @Test func `after minutes of an outage a caller is served within seconds of its end`() async throws {
    try await OwnThread.run {
      for failure in [Self.unavailable, .transient(.networkUnavailable)] {
        let (harness, client) = try Self.begin(["default"])
        harness.provider.setRefresh(.fails(failure))
        for _ in 0..<18 {
          #expect(client.ask(Self.token("default", forced: true)).first?.contains(failure.kind.rawValue) == true)
          Self.pass(10, harness)
        }
        harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
        // A try of the schedule may have failed a moment ago, and the next one is sent 5 to 10 seconds later.
        let isServed = (0..<12).contains { _ in
          Self.pass(1, harness)
          return client.ask(Self.token("default", forced: true)).first?.contains("access-2") == true
        }
        #expect(isServed)
      }
    }
  }

  @Test func `a refused client secret that was corrected is used at once`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.begin(["default"])
      harness.provider.setRefresh(.fails(.misconfigured(.client)))
      for _ in 0..<12 {
        #expect(client.ask(Self.token("default", forced: true)).first?.contains("fixConfig") == true)
        Self.pass(10, harness)
      }
      _ = client.ask(Self.token("default", forced: true))
      harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      let settings = [ProfileSettings(name: .default, provider: harness.provider)]
      harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
      harness.settle()
      #expect(client.ask(Self.token("default", forced: true)).first?.contains("accessToken") == true)
      #expect(client.ask(Self.call("getSession")).first?.contains(#""state":"authenticated""#) == true)
    }
  }

  @Test(arguments: [unavailable, .misconfigured(.client), .transient(.networkUnavailable)])
  func `another profile's success ends the wait`(_ failure: ProviderFailure) async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.begin(["default", "work"])
      harness.provider.setRefresh(.fails(failure))
      for _ in 0..<12 {
        _ = client.ask(Self.token("default", forced: true))
        Self.pass(10, harness)
      }
      let before = harness.provider.spentTokens.count
      harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      #expect(client.ask(Self.login("work")).first?.contains("authenticated") == true)
      Self.pass(10, harness)
      #expect(harness.provider.spentTokens.count == before + 1)
      #expect(client.ask(Self.call("getSession", #"{"profile":"default"}"#)).first?.contains("authenticated") == true)
    }
  }

  @Test func `an outage costs a provider as many requests for many profiles as for a few`() async throws {
    try await OwnThread.run {
      var requests: [Int] = []
      for count in [2, 20] {
        let (harness, _) = try Self.begin((1...count).map { "p\($0)" })
        harness.provider.setRefresh(.fails(Self.unavailable))
        // Their refreshes are due after 675 to 765 s, and their tokens end after 900 s.
        Self.pass(890, harness)
        requests.append(harness.provider.spentTokens.count)
        harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
        Self.pass(310, harness)
        #expect(harness.provider.spentTokens.count >= requests[requests.count - 1] + count)
      }
      // One for each profile, and not 20 times as many; how many the schedule has time for is random.
      #expect(requests[1] <= requests[0] + 30, "\(requests)")
    }
  }

  @Test func `the way to a provider is told of each profile that has it, whichever has noticed`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.begin(["default", "work"])
      let watcher = try harness.connect()
      _ = watcher.ask(Self.call("subscribe", #"{"events":["networkDown","networkUp"]}"#))
      func told() -> [String] {
        watcher.lines().map { line in
          ["networkDown", "networkUp"].first { line.contains($0) }.map { name in
            name + (line.contains(#""profile":"work""#) ? " work" : " default")
          } ?? line
        }
      }
      harness.provider.setRefresh(.fails(.transient(.networkUnavailable)))
      _ = client.ask(Self.token("work", forced: true))
      #expect(told() == ["networkDown default", "networkDown work"])
      harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      _ = client.ask(Self.token("default", forced: true))
      #expect(told() == ["networkUp default", "networkUp work"])
    }
  }

  @Test func `a provider's clock is reported once, and shown for each of its profiles`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["default", "work"]) { $0.setClockSkew(.seconds(-3600)) }
      let client = try harness.connect()
      for profile in ["default", "work"] { _ = client.ask(Self.login(profile)) }
      #expect(harness.reports.all.count == 1)
      let sessions = client.ask(Self.call("listSessions")).first ?? ""
      #expect(sessions.split(separator: "providerClockSkewSeconds").count == 3)
    }
  }
}
