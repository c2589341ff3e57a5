import BrokerCore
import BrokerProtocol
import HTTP
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import OIDCProvider

/// Where a provider's endpoints are found.
@Suite(.standardTimeLimit) struct DiscoveryTests {
  private static let openID = "/.well-known/openid-configuration"
  private static let oauth = "/.well-known/oauth-authorization-server"
  private static let tokens = FakeProvider.Reply(200, #"{"access_token":"at"}"#)

  @Test func `the first document is read once, and the others only for what it lacks`() async throws {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      case Self.openID: FakeProvider.Reply(200, #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#)
      case Self.oauth:
        FakeProvider.Reply(
          200,
          #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/other","revocation_endpoint":"\#(issuer)/revoke"}"#)
      case "/revoke": FakeProvider.Reply(200, "", [])
      default: Self.tokens
      }
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        for _ in 0..<3 { _ = try await provider.refresh(BoundToken(secret("rt"))) }
        #expect(server.requests.map(\.path) == [Self.openID, "/token", "/token", "/token"])
        let tokens = TokenSet(accessToken: try secret("at"), accessTokenExpiresAt: nil, refreshToken: nil)
        for _ in 0..<2 { try await provider.revoke(tokens, everywhere: false) }
        _ = try await provider.refresh(BoundToken(secret("rt")))
        #expect(server.requests.dropFirst(4).map(\.path) == [Self.oauth, "/revoke", "/revoke", "/token"])
        let device = Credentials(method: .deviceCode)
        #expect(await failure { () throws(ProviderFailure) in try await provider.login(device) } == .unsupported)
      }
    }
  }

  @Test(arguments: [
    ("\u{FEFF}{", "}"), ("{", ",}"), ("{", #","scopes_supported":["openid"],"scopes_supported":["openid","email"]}"#),
    ("{", #","name":"a\u{1}b"}"#), ("{\n// the provider of x\n", "}"), ("{", #","x":NaN}"#),
  ])
  func `a document is read as leniently as a reply`(_ start: String, _ end: String) async throws {
    try await FakeProvider.run { request, issuer in
      guard request.path == Self.openID else { return request.path == "/token" ? Self.tokens : .notFound }
      return FakeProvider.Reply(200, #"\#(start)"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"\#(end)"#)
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        _ = try await provider.refresh(BoundToken(secret("rt")))
      }
    }
  }

  @Test(arguments: [#","issuer":"https://other.example.com"}"#, #","token_endpoint":"https://other.example.com/t"}"#])
  func `an issuer or an endpoint that is there twice and differs is none`(_ end: String) async throws {
    try await FakeProvider.run { request, issuer in
      guard request.path == Self.openID else { return request.path == "/token" ? Self.tokens : .notFound }
      return FakeProvider.Reply(200, #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"\#(end)"#)
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let token = try BoundToken(secret("rt"))
        #expect(await failure { () throws(ProviderFailure) in try await provider.refresh(token) } != nil)
      }
      #expect(server.requests(at: "/token").isEmpty)
    }
  }

  @Test func `a user's claims are read behind a byte order mark`() async throws {
    try await withProvider(reply: FakeProvider.Reply(200, "\u{FEFF}{\"sub\":\"u1\"}")) { provider, _ in
      let user = try await provider.currentUser(accessToken: BoundToken(secret("at")))
      #expect(user.id == "u1")
    }
  }

  @Test(arguments: ["/.well-known/oauth-authorization-server/tenant", "/tenant/.well-known/oauth-authorization-server"])
  func `both forms of RFC 8414 are found below a path`(_ path: String) async throws {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      case path: FakeProvider.Reply(200, document(issuer + "/tenant"))
      case "/tenant/token": Self.tokens
      default: .notFound
      }
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer + "/tenant")) { provider in
        _ = try await provider.refresh(BoundToken(secret("rt")))
      }
      #expect(server.requests.first?.path == "/tenant" + Self.openID)
    }
  }

  @Test func `a trouble passes, and the next use finds what it needs`() async throws {
    let answers = Atomic<Int>(0)
    try await FakeProvider.run { request, issuer in
      guard request.path == Self.openID else { return request.path == "/token" ? Self.tokens : .notFound }
      switch answers.add(1, ordering: .relaxed).oldValue {
      case 0: return FakeProvider.Reply(503, "", [])
      case 1: return FakeProvider.Reply(200, "<html>log in to the network</html>", ["Content-Type: text/html"])
      case 2: return .lost
      case 3: return .notFound
      default: return FakeProvider.Reply(200, document(issuer))
      }
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let token = try BoundToken(secret("rt"))
        var found: [ProviderFailure?] = []
        for _ in 0..<5 {
          found.append(await failure { () throws(ProviderFailure) in try await provider.refresh(token) })
        }
        #expect(
          found == [
            .transient(.providerUnavailable), .transient(.invalidResponse), .transient(.networkUnavailable),
            .transient(.invalidResponse), nil,
          ])
        #expect(server.requests(at: "/token").count == 1)
      }
    }
  }

  @Test func `what the configuration says holds, and is enough`() async throws {
    try await FakeProvider.run { request, issuer in
      request.path == Self.openID ? FakeProvider.Reply(200, document(issuer)) : Self.tokens
    } _: { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      dialect.endpoints[.token] = server.issuer + "/mine"
      try await withProvider(dialect) { provider in _ = try await provider.refresh(BoundToken(secret("rt"))) }
      #expect(server.requests.map(\.path) == ["/mine"])
    }
  }

  @Test func `many who want something wait for one search`() async throws {
    try await FakeProvider.run { request, issuer in
      request.path == Self.openID ? FakeProvider.Reply(200, document(issuer)) : Self.tokens
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let token = try BoundToken(secret("rt"))
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<8 { group.addTask { _ = try await provider.refresh(token) } }
          try await group.waitForAll()
        }
      }
      #expect(server.requests(at: Self.openID).count == 1 && server.requests(at: "/token").count == 8)
    }
  }

  @Test func `many who want different things read each document once`() async throws {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      case Self.openID: FakeProvider.Reply(200, #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#)
      case Self.oauth:
        FakeProvider.Reply(200, #"{"issuer":"\#(issuer)","userinfo_endpoint":"\#(issuer)/userinfo"}"#)
      default: FakeProvider.Reply(200, #"{"sub":"u1"}"#)
      }
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let token = try BoundToken(secret("at"))
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<16 { group.addTask { _ = try await provider.currentUser(accessToken: token) } }
          try await group.waitForAll()
        }
      }
      #expect(server.requests(at: Self.openID).count == 1 && server.requests(at: Self.oauth).count == 1)
      #expect(server.requests(at: "/userinfo").count == 16)
    }
  }

  @Test func `a moment until which documents cannot be had is by the clock of today`() async throws {
    let reply = FakeProvider.Reply(503, "", ["Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"])
    try await FakeProvider.run(always: reply) { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let token = try BoundToken(secret("rt"))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .transient(.providerUnavailable, retryAfter: .zero))
      }
    }
  }

  @Test func `no endpoint is called in the clear for an issuer that is not`() throws {
    let dialect = OIDCDialect(type: "oidc", issuer: "https://op.example.com")
    let text = """
      {"issuer":"https://op.example.com","token_endpoint":"http://127.0.0.1/t","revocation_endpoint":"ftp://x/",\
      "userinfo_endpoint":"https://user@op.example.com/u","authorization_endpoint":"https://op.example.com/a",\
      "end_session_endpoint":7,"device_authorization_endpoint":"https://op.example.com/d\\n"}
      """
    let metadata = try ProviderMetadata(Array(text.utf8), of: dialect)
    #expect(metadata.endpoints == [.authorization: try HTTPURL("https://op.example.com/a")])
    #expect(throws: ProviderMetadata.Refusal.malformed) { try ProviderMetadata(Array("[]".utf8), of: dialect) }
    #expect(throws: ProviderMetadata.Refusal.malformed) { try ProviderMetadata(Array("{}".utf8), of: dialect) }
    let other = text.replacing("https://op.example.com\"", with: "https://op.example.com/\"")
    #expect(throws: ProviderMetadata.Refusal.otherIssuer) { try ProviderMetadata(Array(other.utf8), of: dialect) }
  }

  @Test func `a probe that finds no document of any kind says that the address is wrong`() async throws {
    try await FakeProvider.run(always: .notFound) { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let probe = await provider.probe()
        guard case .answered(404, _, _) = probe.outcome else {
          Issue.record("the provider answers: \(probe)")
          return
        }
        #expect(probe.fault == .address)
      }
    }
  }

  @Test func `a probe asks for the first document, and carries nothing`() async throws {
    try await withProvider(reply: .notFound) { provider, server in
      let probe = await provider.probe()
      guard case .answered(200, _, _) = probe.outcome else {
        Issue.record("the provider answers")
        return
      }
      #expect(server.requests.map(\.path) == [Self.openID])
      #expect(server.requests.first?.fields["authorization"] == nil && probe.fault == nil)
    }
  }
}
