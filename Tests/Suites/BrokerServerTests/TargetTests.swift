import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// Tokens for other scopes, or another audience, than the session's own: over the whole server.
@Suite(.standardTimeLimit) struct TargetTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let login = call("login", #"{"email":"a@example.test","password":"right"}"#, 1)
  private static let own = call("getAccessToken")
  private static let other = call("getAccessToken", #"{"audience":"urn:a"}"#)

  /// A server with somebody logged in, whose provider gives tokens for targets as a test says.
  private static func stage(
    _ answer: ScriptedProvider.Refresh? = .succeeds(lifetime: .seconds(900))
  ) throws -> (ServerHarness, TestClient) {
    let harness = try ServerHarness(prepare: { $0.setTargetAnswer(answer) })
    let client = try harness.connect()
    _ = client.ask(Self.login)
    return (harness, client)
  }

  @Test func `a hundred callers cause one request, and all get its token`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      let second = try harness.connect()
      harness.provider.hold()
      for id in 1...50 {
        #expect(client.ask(Self.call("getAccessToken", #"{"audience":"urn:a","scopes":["x","y"]}"#, id)).isEmpty)
        #expect(second.ask(Self.call("getAccessToken", #"{"scopes":["y","x","y"],"audience":"urn:a"}"#, id)).isEmpty)
      }
      harness.provider.release()
      let answers = client.lines() + second.lines()
      #expect(answers.count == 100)
      let wanted = #""accessToken":"access-2","tokenType":"Bearer""#
      #expect(answers.allSatisfy { $0.contains(wanted) && $0.contains(#""scopes":["x","y"],"audience":"urn:a""#) })
      #expect(harness.provider.askedTargets == [TokenTarget(scopes: ["x", "y"], audience: "urn:a")])
      #expect(client.ask(Self.own).first?.contains("access-1") == true)
      let counters = client.ask(Self.call("getStatus")).first ?? ""
      #expect(counters.contains(#""refreshes":1"#), "\(counters)")
    }
  }

  @Test func `nobody sees a token before what came with it is saved, and no event tells of it`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      let listener = try harness.connect()
      _ = listener.ask(Self.call("subscribe"))
      harness.provider.hold()
      _ = client.ask(Self.other)
      harness.store.hold()
      harness.provider.release()
      #expect(client.lines().isEmpty)
      harness.store.release()
      #expect(client.lines().first?.contains("access-2") == true)
      guard case .living(let session)? = harness.store.records.first?.contents else {
        Issue.record("no session rests")
        return
      }
      #expect(session.tokens.refreshToken?.value.revealedString() == "refresh-2")
      #expect(session.tokens.accessToken.value.revealedString() == "access-1")
      #expect(harness.store.intents.isEmpty)
      #expect(listener.lines().isEmpty)
    }
  }

  @Test(arguments: [
    (#"{"scopes":["a",""]}"#, "/scopes/1"), (#"{"scopes":["a b"]}"#, "/scopes/0"),
    (#"{"scopes":["a\""]}"#, "/scopes/0"),
    (#"{"audience":""}"#, "/audience"), (#"{"audience":"a\u0000b"}"#, "/audience"),
    (#"{"audience":"\#(String(repeating: "a", count: 2049))"}"#, "/audience"),
    (#"{"scopes":["\#(String(repeating: "a", count: 257))"]}"#, "/scopes/0"),
    (#"{"scopes":[\#(Array(repeating: #""a""#, count: 129).joined(separator: ","))]}"#, "/scopes"),
  ])
  func `what can be no scope or audience, or is too much, is named`(_ params: String, _ pointer: String) async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      for method in ["getAccessToken", "reportRejected"] {
        let params = method == "getAccessToken" ? params : #"{"tokenId":"x","# + params.dropFirst()
        let answer = client.ask(Self.call(method, params)).first ?? ""
        #expect(answer.contains("-32602") && answer.contains(#""pointer":"\#(pointer)""#), "\(answer)")
      }
      #expect(harness.provider.askedTargets.isEmpty)
    }
  }

  @Test func `a provider without such tokens answers at once, and the session's own scopes are its own token`()
    async throws
  {
    try await OwnThread.run {
      let (harness, client) = try Self.stage(nil)
      #expect(client.ask(Self.other).first?.contains("unsupportedByProvider") == true)
      let scopes = Self.call("getAccessToken", #"{"scopes":["read","write"]}"#)
      #expect(client.ask(scopes).first?.contains("insufficientScope") == true)
      let own = client.ask(Self.call("getAccessToken", #"{"scopes":["read"]}"#)).first ?? ""
      #expect(own.contains("access-1") && !own.contains("audience"))
      #expect(harness.provider.spentTokens.isEmpty)
    }
  }

  @Test(arguments: [#""tokenId":"id-%""#, #""accessToken":"access-%""#])
  func `a report is answered with a token for the same, and one flight for the current one`(_ form: String) async throws
  {
    @Sendable func report(_ number: Int, _ more: String = "", _ id: Int = 9) -> String {
      let name = form.split(separator: "%", omittingEmptySubsequences: false).joined(separator: String(number))
      return Self.call("reportRejected", "{\(name)\(more)}", id)
    }
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      _ = client.ask(Self.other)
      harness.provider.hold()
      for id in 10..<20 { #expect(client.ask(report(2, "", id)).isEmpty) }
      harness.provider.release()
      let answers = client.lines()
      #expect(answers.count == 10)
      #expect(answers.allSatisfy { $0.contains("access-3") && $0.contains("urn:a") })
      #expect(harness.provider.spentTokens == ["refresh-1", "refresh-2"])
      // An older one, and one that only the report itself says anything of.
      #expect(client.ask(report(2)).first?.contains("access-3") == true)
      #expect(client.ask(report(7, #","audience":"urn:a""#)).first?.contains("access-3") == true)
      #expect(client.ask(report(3, #","status":403"#)).first?.contains("access-3") == true)
      #expect(harness.provider.spentTokens.count == 2)
      // The session's own, and one of which nothing is known.
      #expect(client.ask(report(8)).first?.contains("access-1") == true)
      #expect(client.ask(report(1)).first?.contains("access-4") == true)
      #expect(client.ask(Self.other).first?.contains("access-3") == true)
    }
  }

  @Test func `a caller may leave or run out of time, and the next one finds the token`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      harness.provider.hold()
      #expect(client.ask(Self.other).isEmpty)
      #expect(client.ask(Self.call("getAccessToken", #"{"audience":"urn:a","timeoutSeconds":2}"#, 10)).isEmpty)
      let cancelled = client.ask(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#)
      #expect(cancelled.count == 1 && cancelled.first?.contains("-32800") == true)
      harness.clock.advance(by: .seconds(2))
      harness.settle()
      #expect(client.lines().first?.contains("deadlineExceeded") == true)
      harness.provider.release()
      #expect(client.lines().isEmpty)
      #expect(client.ask(Self.other).first?.contains("access-2") == true)
      #expect(harness.provider.askedTargets.count == 1)
    }
  }

  @Test func `what is refused is not asked for again, whoever wants it, and the session goes on`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage(.fails(.refused(.insufficientScope)))
      for _ in 0..<30 {
        #expect(client.ask(Self.other).first?.contains("insufficientScope") == true)
        let forced = Self.call("getAccessToken", #"{"audience":"urn:a","forceRefresh":true}"#)
        #expect(client.ask(forced).first?.contains("insufficientScope") == true)
      }
      #expect(harness.provider.askedTargets.count == 1)
      #expect(client.ask(Self.own).first?.contains("access-1") == true)
      #expect(client.ask(Self.call("getSession")).first?.contains(#""state":"authenticated""#) == true)
      #expect(client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#)).first?.contains("access-2") == true)
    }
  }

  @Test func `whoever waits for a login gets the token of the new session`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      _ = client.ask(Self.other)
      _ = client.ask(Self.call("logout"))
      #expect(client.ask(Self.other).first?.contains("loginRequired") == true)
      #expect(harness.provider.revocations == 1)
      #expect(client.ask(Self.call("getAccessToken", #"{"audience":"urn:a","waitForLogin":true}"#, 10)).isEmpty)
      let answers = client.ask(Self.login)
      #expect(answers.contains { $0.contains(#""id":10"#) && $0.contains("access-4") && $0.contains("urn:a") })
      #expect(harness.provider.spentTokens == ["refresh-1", "refresh-3"])
    }
  }

  @Test func `a lock forgets them, and after an unlock they are asked for once more`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      _ = client.ask(Self.other)
      _ = client.ask(Self.call("lock"))
      #expect(client.ask(Self.other).first?.contains("vaultLocked") == true)
      _ = client.ask(Self.call("unlock"))
      #expect(client.ask(Self.other).first?.contains("access-3") == true)
      #expect(harness.provider.spentTokens == ["refresh-1", "refresh-2"])
    }
  }
}
