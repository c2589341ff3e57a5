import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// A broker whose memory for secrets is full.
@Suite(.standardTimeLimit) struct RoomTests {
  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  private static let login = call("login", #"{"email":"a@example.test","password":"right"}"#)
  private static let forced = call("getAccessToken", #"{"forceRefresh":true}"#)

  @Test(arguments: Rotation.allCases)
  func `a refresh whose reply would find no room is not begun`(_ rotation: Rotation) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(rules: SessionRules(rotation: rotation))
      let client = try harness.connect()
      _ = client.ask(Self.login)
      let watcher = try harness.connect()
      _ = watcher.ask(Self.call("subscribe"))
      let arena = SecretArena(capacity: 4096)
      let full = try Secret(copying: [UInt8](repeating: 7, count: 4096).span, in: arena)
      let answer = SecretScope(arena: arena).run { client.ask(Self.forced).first ?? "" }
      #expect(answer.contains(#""kind":"overloaded""#) && answer.contains(#""nextAction":"retry""#), "\(answer)")
      #expect(answer.contains("retryAfterSeconds"))
      #expect(harness.provider.spentTokens.isEmpty)
      #expect(harness.store.intents.isEmpty)
      let told = watcher.lines().joined()
      #expect(told.contains(#""event":"refreshFailed""#) && told.contains(#""kind":"overloaded""#), "\(told)")
      withExtendedLifetime(full) {}
      // With room again, the same token is good.
      harness.clock.advance(by: .seconds(2))
      #expect(client.ask(Self.forced).first?.contains("access-2") == true)
      #expect(harness.provider.spentTokens.count == 1)
      #expect(harness.store.intents.isEmpty)
    }
  }

  @Test func `a connection has so many bytes of parameters under way, a single request as many as it likes`()
    async throws
  {
    try await OwnThread.run {
      var limits = Limits()
      limits[.parameterBytes] = 4096
      let harness = try ServerHarness(limits: limits)
      let client = try harness.connect()
      let other = try harness.connect()
      harness.provider.hold()
      let long = String(repeating: "x", count: 3000)
      let params = #"{"email":"a@example.test","password":"\#(long)","clientContext":"\#(long)"}"#
      // Longer than the limit, and alone.
      #expect(client.ask(Self.call("login", params)).isEmpty)
      let refused = client.ask(Self.call("login", #"{"email":"b@example.test","password":"p"}"#)).first ?? ""
      #expect(refused.contains(#""kind":"overloaded""#), "\(refused)")
      // Another connection has its own.
      #expect(other.ask(Self.call("login", #"{"email":"c@example.test","password":"p"}"#)).isEmpty)
      harness.provider.release()
      #expect(client.lines().count == 1)
      #expect(client.ask(Self.call("login", params)).count == 1)
    }
  }

  @Test func `a client may ask for so many targets in a minute, and the session is not held back by it`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(prepare: { $0.setTargetAnswer(.succeeds(lifetime: .seconds(900))) })
      let client = try harness.connect()
      _ = client.ask(Self.login)
      for number in 1...Limits()[.targets] {
        let answer = client.ask(Self.call("getAccessToken", #"{"audience":"urn:\#(number)"}"#)).first ?? ""
        #expect(answer.contains("accessToken"), "\(answer)")
      }
      let refused = client.ask(Self.call("getAccessToken", #"{"audience":"urn:more"}"#)).first ?? ""
      #expect(refused.contains(#""kind":"rateLimited""#) && refused.contains("retryAfterSeconds"), "\(refused)")
      // What it has asked for before it may ask for again, and another client has its own.
      #expect(client.ask(Self.call("getAccessToken", #"{"audience":"urn:1"}"#)).first?.contains("accessToken") == true)
      #expect(client.ask(Self.forced).first?.contains("accessToken") == true)
      #expect(client.ask(Self.call("getSession")).first?.contains(#""state":"authenticated""#) == true)
      let other = try harness.connect()
      let more = other.ask(Self.call("getAccessToken", #"{"audience":"urn:more"}"#)).first ?? ""
      #expect(more.contains("accessToken"))
    }
  }

  @Test func `an open breaker is no outage, is told once, and ends with its session`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      let watcher = try harness.connect()
      _ = watcher.ask(Self.call("subscribe", #"{"events":["refreshFailed"]}"#))
      for _ in 1...RefreshBudget.limit { #expect(client.ask(Self.forced).first?.contains("accessToken") == true) }
      for _ in 1...3 {
        let refused = client.ask(Self.forced).first ?? ""
        #expect(refused.contains(#""kind":"rateLimited""#) && refused.contains("retryAfterSeconds"), "\(refused)")
      }
      let told = watcher.lines()
      #expect(told.count == 1 && told[0].contains(#""kind":"rateLimited""#), "\(told)")
      #expect(client.ask(Self.call("getSession")).first?.contains(#""state":"authenticated""#) == true)
      let living = client.ask(Self.call("getAccessToken")).first ?? ""
      #expect(living.contains("accessToken") && !living.contains("offline"), "\(living)")
      _ = client.ask(Self.call("logout"))
      _ = client.ask(Self.login)
      #expect(client.ask(Self.forced).first?.contains("accessToken") == true)
    }
  }
}
