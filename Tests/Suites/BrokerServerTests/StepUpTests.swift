import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// Servers that want more than another token: more scopes, or a user who authenticates again (RFC 6750, RFC 9470).
@Suite(.standardTimeLimit) struct StepUpTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let login = call("login", #"{"email":"a@example.test","password":"right"}"#, 1)

  /// The report of a refusal with a challenge, in which `'` stands for quotation marks.
  private static func report(_ challenge: String, status: Int = 403) -> String {
    let text = challenge.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"\""#)
    return call("reportRejected", #"{"accessToken":"access-1","status":\#(status),"challenge":"\#(text)"}"#)
  }

  private static func stage(_ answer: ScriptedProvider.Refresh?) throws -> (ServerHarness, TestClient) {
    let harness = try ServerHarness(prepare: { $0.setTargetAnswer(answer) })
    let client = try harness.connect()
    _ = client.ask(Self.login)
    return (harness, client)
  }

  @Test func `scope-step-up: more scopes are asked for together with those of the session`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage(.succeeds(lifetime: .seconds(900)))
      let answer = client.ask(Self.report("Bearer error='insufficient_scope', scope='read write'")).first ?? ""
      #expect(
        answer.contains(#""accessToken":"access-2""#) && answer.contains(#""scopes":["read","write"]"#), "\(answer)")
      #expect(harness.provider.askedTargets == [TokenTarget(scopes: ["read", "write"])])
      // The next request that names them has the same token.
      let again = client.ask(Self.call("getAccessToken", #"{"scopes":["write","read"]}"#)).first ?? ""
      #expect(again.contains("access-2"), "\(again)")
    }
  }

  @Test(arguments: [.fails(.refused(.insufficientScope)), nil] as [ScriptedProvider.Refresh?])
  func `where only a user can give them, a login is told what to ask for`(_ refusal: ScriptedProvider.Refresh?)
    async throws
  {
    try await OwnThread.run {
      let (harness, client) = try Self.stage(refusal)
      let answer = client.ask(Self.report("Bearer error=insufficient_scope, scope=write")).first ?? ""
      #expect(answer.contains(#""code":1005"#) && answer.contains(#""nextAction":"login""#), "\(answer)")
      #expect(answer.contains(#""scopes":["read","write"]"#) && !answer.contains("acrValues"), "\(answer)")
      // The session goes on, and the next login asks for all of them.
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-1") == true)
      _ = client.ask(Self.login)
      #expect(harness.provider.logins.last == "password a@example.test read,write acr= age=-1")
      _ = client.ask(Self.login)
      #expect(harness.provider.logins.last == "password a@example.test", "once")
    }
  }

  @Test func `scope-retry-limit: what the token has already is no reason for a login`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage(.succeeds(lifetime: .seconds(900)))
      for _ in 0..<5 {
        let answer = client.ask(Self.report("Bearer error=insufficient_scope, scope=read")).first ?? ""
        #expect(answer.contains("access-1"), "\(answer)")
      }
      #expect(harness.provider.askedTargets.isEmpty && harness.provider.spentTokens.isEmpty)
    }
  }

  @Test func `a user who must authenticate again, or by other means, is told how`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage(.succeeds(lifetime: .seconds(900)))
      let challenge = "Bearer error='insufficient_user_authentication', acr_values='urn:a urn:b', max_age=5, scope='x'"
      let answer = client.ask(Self.report(challenge, status: 401)).first ?? ""
      #expect(
        answer.contains(#""kind":"reauthRequired""#) && answer.contains(#""acrValues":["urn:a","urn:b"]"#), "\(answer)")
      #expect(answer.contains(#""maxAge":5"#) && answer.contains(#""scopes":["read","x"]"#), "\(answer)")
      #expect(harness.provider.spentTokens.isEmpty, "a refresh does not help")
      _ = client.ask(Self.login)
      #expect(harness.provider.logins.last == "password a@example.test read,x acr=urn:a,urn:b age=5")
    }
  }

  @Test func `the demands outlive the broker, until a login has met them`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      func next() throws -> (ServerHarness, TestClient) {
        let harness = try ServerHarness(store: store, clock: clock)
        return (harness, try harness.connect())
      }
      let challenge = "Bearer error='insufficient_user_authentication', acr_values='urn:a', max_age=5"
      let (first, before) = try next()
      _ = before.ask(Self.login)
      // A refresh that is under way writes them down with its tokens.
      first.provider.hold()
      #expect(before.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#)).isEmpty)
      #expect(before.ask(Self.report(challenge, status: 401)).first?.contains("reauthRequired") == true)
      first.provider.release()
      #expect(before.lines().first?.contains("access-2") == true)
      let (second, client) = try next()
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-2") == true)
      _ = client.ask(Self.login)
      #expect(second.provider.logins.last == "password a@example.test read acr=urn:a age=5")
      let (third, later) = try next()
      _ = later.ask(Self.login)
      #expect(third.provider.logins.last == "password a@example.test", "they are met")
      // Where nothing else is on its way, they are written down at once, and only once.
      let count = store.saveCount
      for _ in 0..<3 { _ = later.ask(Self.report(challenge, status: 401)) }
      #expect(store.saveCount == count + 1)
      let (fourth, last) = try next()
      _ = last.ask(Self.login)
      #expect(fourth.provider.logins.last == "password a@example.test read acr=urn:a age=5")
    }
  }

  @Test(arguments: [
    "Basic realm=x", "Bearer", "Bearer error=invalid_token", "Bearer error='insufficient_scope'", "nonsense '",
  ])
  func `any other challenge changes nothing`(_ challenge: String) async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage(.succeeds(lifetime: .seconds(900)))
      let answer = client.ask(Self.report(challenge, status: 401)).first ?? ""
      #expect(answer.contains("access-2"), "\(answer)")
      #expect(harness.provider.askedTargets.isEmpty)
    }
  }

  @Test func `scopes that are none, and a challenge that is too long, are refused`() async throws {
    try await OwnThread.run {
      let (_, client) = try Self.stage(nil)
      let many = (0...128).map { "s\($0)" }.joined(separator: " ")
      for challenge in ["Bearer error=insufficient_scope, scope='\(many)'", String(repeating: "x", count: 8193)] {
        let answer = client.ask(Self.report(challenge)).first ?? ""
        #expect(answer.contains("-32602") && answer.contains(#""pointer":"/challenge""#), "\(answer)")
      }
    }
  }
}
