import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

/// ID tokens, for servers that ask who the user is.
@Suite(.standardTimeLimit) struct IDTokenTests {
  /// A client of a harness whose provider gives ID tokens, logged in.
  private struct Stage {
    let harness: ServerHarness
    let client: TestClient

    init(
      _ idTokens: ScriptedProvider.IDTokens? = .init(lifetime: .seconds(300)), isAllowed: Bool = true,
      rules: SessionRules = SessionRules()
    ) throws {
      harness = try ServerHarness(rules: rules, allowsIDToken: isAllowed) { $0.setIDTokens(idTokens) }
      client = try harness.connect()
      logIn()
    }

    func logIn() { _ = call("login", #"{"email":"a@example.test","password":"right"}"#) }

    func call(_ method: String = "getIdToken", _ params: String = "{}") -> String {
      client.ask(#"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#).first ?? ""
    }

    /// The number of the ID token that is answered; nil where there is none.
    func number() -> Int? {
      guard let token = try? JSONDocument(parsing: Array(call().utf8)).root["result"]?.required("idToken").string()
      else { return nil }
      return (1...9).first { token.hasSuffix("." + ScriptedProvider.idTokenEnd($0)) }
    }

    func wait(_ seconds: Int) { harness.clock.advance(by: .seconds(seconds)) }

    var refreshes: Int { harness.provider.spentTokens.count }
  }

  @Test func `a living ID token is answered from memory, with its end`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      let end = stage.harness.clock.now + .seconds(300)
      #expect(stage.call().contains(#","expiresAt":"\#(end)"}}"#))
      #expect(stage.number() == 1)
      stage.wait(260)
      #expect(stage.number() == 1)
      #expect(stage.refreshes == 0)
    }
  }

  @Test func `an ID token that has ended is refreshed once, whoever asks`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.wait(271)
      stage.harness.provider.hold()
      let other = try stage.harness.connect()
      for client in [stage.client, other] {
        client.send(#"{"jsonrpc":"2.0","id":9,"method":"getIdToken"}"# + "\n")
      }
      stage.harness.provider.release()
      let answers = [stage.client, other].map { $0.lines().first ?? "" }
      #expect(answers[0].contains("idToken") && answers[0] == answers[1])
      #expect(stage.number() == 2)
      #expect(stage.refreshes == 1)
    }
  }

  @Test func `where a refresh brings no ID token, its user must log in, and no further refresh is made`() async throws {
    try await OwnThread.run {
      let stage = try Stage(.init(lifetime: .seconds(300), comeWithRefreshes: false))
      stage.wait(271)
      #expect(stage.number() == 1, "it still lives")
      #expect(stage.refreshes == 1)
      #expect(stage.number() == 1)
      stage.wait(30)
      for _ in 0..<3 {
        let answer = stage.call()
        #expect(answer.contains("reauthRequired") && answer.contains(#""nextAction":"reauthenticate""#))
      }
      #expect(stage.refreshes == 1)
      stage.logIn()
      #expect(stage.number() == 3)
    }
  }

  @Test func `an ID token whose whole life is shorter than the skew is good for four fifths of it`() async throws {
    try await OwnThread.run {
      let rules = SessionRules(expiry: ExpiryPolicy(skew: .seconds(120)))
      let stage = try Stage(.init(lifetime: .seconds(60)), rules: rules)
      stage.wait(47)
      #expect(stage.number() == 1)
      stage.wait(2)
      #expect(stage.number() == 2)
      #expect(stage.number() == 2)
      #expect(stage.refreshes == 1)
    }
  }

  @Test func `without the network a living ID token is answered, and one that has ended is not`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.setRefresh(.fails(.transient(.networkUnavailable)))
      stage.wait(280)
      #expect(stage.number() == 1)
      stage.wait(30)
      #expect(stage.call().contains("networkUnavailable"))
      stage.harness.provider.setRefresh(.fails(.sessionEnded(.refreshRejected)))
      stage.wait(600)
      #expect(stage.call().contains("sessionExpired"))
    }
  }

  @Test func `ID tokens are given only where the profile allows it`() async throws {
    try await OwnThread.run {
      let stage = try Stage(isAllowed: false)
      let answer = stage.call()
      #expect(answer.contains("accessDenied") && answer.contains(#""nextAction":"fixConfig""#))
      #expect(answer.contains("allowIdToken"))
    }
  }

  @Test func `a configuration that is taken up gives and takes the permission`() async throws {
    try await OwnThread.run {
      let stage = try Stage(isAllowed: false)
      for isAllowed in [true, false] {
        let settings = ProfileSettings(
          name: .default, provider: stage.harness.provider, rules: SessionRules(), allowsIDToken: isAllowed)
        stage.harness.broker.assumeIsolated { $0.reconfigureSoon([settings]) }
        stage.harness.settle()
        #expect(stage.call().contains("accessDenied") == !isAllowed)
      }
    }
  }

  @Test func `a session without an ID token says so, and one that is none is refused as for other tokens`() async throws
  {
    try await OwnThread.run {
      let stage = try Stage(nil)
      #expect(stage.call().contains("unsupportedByProvider"))
      #expect(stage.call("getIdToken", #"{"profile":"other"}"#).contains("unknownProfile"))
      _ = stage.call("logout")
      #expect(stage.call().contains("loginRequired"))
      stage.harness.provider.setWantsCode(true)
      stage.logIn()
      #expect(stage.call().contains("challengePending"))
      _ = stage.call("lock")
      #expect(stage.call().contains("vaultLocked"))
      #expect(stage.refreshes == 0)
    }
  }

  @Test func `asking for an ID token is using the session`() async throws {
    try await OwnThread.run {
      let rules = SessionRules(
        expiry: ExpiryPolicy(refreshesInBackground: false), idleTimeout: .seconds(100))
      let stage = try Stage(rules: rules)
      for _ in 0..<2 {
        stage.wait(90)
        #expect(stage.number() == 1)
      }
      stage.wait(101)
      #expect(stage.call().contains("sessionExpired"))
    }
  }

  @Test func `a provider whose clock is ahead has its ID tokens judged by it`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(allowsIDToken: true) { provider in
        provider.setIDTokens(.init(lifetime: .seconds(300)))
        provider.setClockSkew(.seconds(600))
      }
      let client = try harness.connect()
      let end = harness.clock.now + .seconds(300)
      let login = #"{"jsonrpc":"2.0","id":1,"method":"login","params":{"email":"a@b","password":"right"}}"#
      _ = client.ask(login)
      let ask = #"{"jsonrpc":"2.0","id":2,"method":"getIdToken"}"#
      #expect(client.ask(ask).first?.contains(#""expiresAt":"\#(end)""#) == true)
      harness.clock.advance(by: .seconds(301))
      #expect(client.ask(ask).first?.contains(#""expiresAt":"\#(end + .seconds(301))""#) == true)
    }
  }
}
