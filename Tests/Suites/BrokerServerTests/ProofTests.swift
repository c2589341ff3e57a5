import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// Proofs of possession for clients (RFC 9449): who gets them, for which tokens and which requests.
@Suite(.standardTimeLimit) struct ProofTests {
  private static func line(_ method: String, _ params: String = "{}") -> String { LoginStage.line(method, params, 9) }

  private static func request(
    _ tokenID: String = "id-1", method: String = "GET", url: String = "https://api.example/a?b=c", nonce: String? = nil
  ) -> String {
    let end = nonce.map { #","nonce":"\#($0)""# } ?? ""
    return line("createProof", #"{"tokenId":"\#(tokenID)","method":"\#(method)","url":"\#(url)"\#(end)}"#)
  }

  /// A server whose session has a key, unless a test says otherwise, and a client that has logged in.
  private static func stage(
    hasKey: Bool = true, _ policy: AccessPolicy? = nil
  ) throws -> (harness: ServerHarness, client: TestClient) {
    let harness = try ServerHarness { provider in
      if hasKey { provider.setKey(ProofKey(der: ScriptedProvider.secret("key"))) }
      provider.setTargetAnswer(.succeeds(lifetime: .seconds(900)))
    }
    let client = try harness.connect()
    _ = client.ask(line("login", #"{"email":"a@example.test","password":"right"}"#))
    if let policy { harness.set(policy) }
    return (harness, client)
  }

  @Test func `a token with a key is told as such, and gets a proof for one request`() async throws {
    try await OwnThread.run {
      let (_, client) = try Self.stage()
      let token = client.askBare(Self.line("getAccessToken")).joined()
      #expect(token.contains(#""tokenType":"DPoP""#) && token.contains(#""tokenId":"id-1""#))
      let proof = client.ask(Self.request()).joined()
      #expect(proof.contains(#""result":{"proof":"key|access-1|GET|https://api.example/a|-"}"#), "\(proof)")
      #expect(client.ask(Self.request(nonce: "n")).joined().contains("|n\"}"))
      // The query and the fragment are the request's own; the rest is as it was written.
      let odd = client.ask(Self.request(url: "https://API.example:443//a/../b#c")).joined()
      #expect(odd.contains("|https://API.example:443//a/../b|"), "\(odd)")
    }
  }

  @Test func `only a present token gets one`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      _ = client.ask(Self.line("getAccessToken", #"{"forceRefresh":true}"#))
      let old = client.ask(Self.request("id-1")).joined()
      #expect(old.contains(#""pointer":"/tokenId""#) && old.contains("invalidParams"), "\(old)")
      #expect(client.ask(Self.request("id-2")).joined().contains("key|access-2|"))
      _ = client.ask(Self.line("getAccessToken", #"{"audience":"urn:a","scopes":["x"]}"#))
      #expect(client.ask(Self.request("id-3")).joined().contains("key|access-3|"))
      harness.clock.advance(by: .seconds(2000))
      #expect(client.ask(Self.request("id-3")).joined().contains("error"))
      _ = client.ask(Self.line("logout"))
      #expect(client.ask(Self.request("id-2")).joined().contains("loginRequired"))
    }
  }

  @Test(arguments: [nil, "urn:a"])
  func `a demand for another proof is followed for the same target, a few times, and leaves no intent`(
    _ audience: String?
  ) async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.stage()
      let demand = ScriptedProvider.Refresh.fails(.transient(.providerUnavailable, cause: .proofWanted))
      harness.provider.setTargetAnswer(demand)
      harness.provider.setRefresh(demand)
      let params = audience.map { #"{"audience":"\#($0)"}"# } ?? #"{"forceRefresh":true}"#
      let answer = client.ask(Self.line("getAccessToken", params)).joined()
      #expect(answer.contains("providerUnavailable") && answer.contains("DPoP-Nonce"), "\(answer)")
      #expect(harness.provider.spentTokens == [String](repeating: "refresh-1", count: 4))
      #expect(harness.provider.askedTargets.count == (audience == nil ? 0 : 4))
      #expect(Set(harness.provider.askedTargets).count <= 1 && harness.store.intents.isEmpty)
      harness.provider.setTargetAnswer(.succeeds(lifetime: .seconds(900)))
      harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      harness.clock.advance(by: .seconds(60))
      #expect(client.ask(Self.line("getAccessToken", params)).joined().contains(#""tokenType":"DPoP""#))
      #expect(harness.store.intents.isEmpty)
    }
  }

  @Test func `a bearer token needs none`() async throws {
    try await OwnThread.run {
      let (_, client) = try Self.stage(hasKey: false)
      #expect(client.ask(Self.line("getAccessToken")).joined().contains(#""tokenType":"Bearer""#))
      let answer = client.ask(Self.request()).joined()
      #expect(answer.contains("unsupportedByProvider") && answer.contains("send them as Bearer"), "\(answer)")
    }
  }

  @Test(arguments: [
    ("/method", #"{"tokenId":"id-1","method":"","url":"https://a.example/"}"#),
    ("/method", #"{"tokenId":"id-1","method":"GET ","url":"https://a.example/"}"#),
    ("/url", #"{"tokenId":"id-1","method":"GET","url":"/a"}"#),
    ("/url", #"{"tokenId":"id-1","method":"GET","url":"ftp://a.example/"}"#),
    ("/url", #"{"tokenId":"id-1","method":"GET","url":"https://b@a.example/"}"#),
    ("/url", #"{"tokenId":"id-1","method":"GET","url":"https://a.example/ b"}"#),
    ("/nonce", #"{"tokenId":"id-1","method":"GET","url":"https://a.example/","nonce":""}"#),
    ("/nonce", #"{"tokenId":"id-1","method":"GET","url":"https://a.example/","nonce":"a b"}"#),
  ])
  func `what is no request is named`(_ pointer: String, _ params: String) async throws {
    try await OwnThread.run {
      let (_, client) = try Self.stage()
      let answer = client.ask(Self.line("createProof", params)).joined()
      #expect(answer.contains(#""pointer":"\#(pointer)""#) && answer.contains("invalidParams"), "\(answer)")
    }
  }

  @Test func `who may not have a token gets no proof for it`() async throws {
    try await OwnThread.run {
      let own = ["default"].compactMap(ProfileName.init)
      let lists: [(Allowance, String)] = [
        (Allowance(), "proof"), (Allowance(mayHold: false), "accessDenied"),
        (Allowance(methods: ["getAccessToken"]), "accessDenied"), (Allowance(methods: ["createProof"]), "proof"),
        (Allowance(scopes: ["x"]), "invalidParams"), (Allowance(audiences: ["urn:a"]), "invalidParams"),
      ]
      for (allowance, expected) in lists {
        let policy = AccessPolicy(sockets: ["ci": AccessPolicy.Ceiling(profiles: own, allowance)])
        let (harness, owner) = try Self.stage(hasKey: true, policy)
        _ = owner.ask(Self.line("getAccessToken"))
        let client = try harness.connect(as: .limited("ci"))
        let answer = client.ask(Self.request()).joined()
        #expect(answer.contains(expected), "\(allowance): \(answer)")
      }
    }
  }
}
