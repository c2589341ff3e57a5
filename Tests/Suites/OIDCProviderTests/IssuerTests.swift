import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Whose documents are believed, and what becomes of the others.
@Suite(.standardTimeLimit) struct IssuerTests {
  private static let openID = "/.well-known/openid-configuration"
  private static let oauth = "/.well-known/oauth-authorization-server"
  private static let tokens = FakeProvider.Reply(200, #"{"access_token":"at"}"#)

  /// The ways in which sessions begin.
  private static func logins() throws -> [Credentials] {
    [
      try .ann(), Credentials(method: .deviceCode), Credentials(method: .browser),
      Credentials(method: .clientCredentials), Credentials(method: .refreshToken, refreshToken: try secret("rt")),
    ]
  }

  /// A provider that describes itself under another issuer, in the first document or in that of RFC 8414.
  private func withForeigner(
    _ path: String, _ change: @escaping @Sendable (String) -> String,
    _ body: (OIDCProvider, FakeProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run { request, issuer in
      guard !request.path.hasPrefix("/.well-known") else {
        return request.path == path ? FakeProvider.Reply(200, document(change(issuer))) : .notFound
      }
      return Self.tokens
    } _: { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      dialect.methods = LoginMethod.allCases
      try await withProvider(dialect) { try await body($0, server) }
    }
  }

  @Test(arguments: [openID, oauth], ["/", "x", "HTTP", "https://other.example"])
  func `an issuer that is not the configured one is not believed, and has to be corrected`(
    _ path: String, _ change: String
  ) async throws {
    try await withForeigner(path) { issuer in
      change.hasPrefix("https:") ? change : change == "HTTP" ? "HTTP" + issuer.dropFirst(4) : issuer + change
    } _: { provider, server in
      let logins = try Self.logins()
      for (count, credentials) in logins.enumerated() {
        let found = await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
        #expect(found == .misconfigured(.issuer), "\(credentials.method)")
        // It is not remembered: each use asks again.
        #expect(server.requests(at: path).count == count + 1)
      }
      #expect(server.requests.allSatisfy { $0.path.hasPrefix("/.well-known") })
    }
  }

  @Test(arguments: [openID, oauth])
  func `a session does not suffer where its provider is known under another issuer`(_ path: String) async throws {
    try await withForeigner(path) {
      $0 + "/"
    } _: { provider, server in
      let (token, tokens) = try (
        BoundToken(secret("rt")),
        TokenSet(accessToken: secret("at"), accessTokenExpiresAt: nil, refreshToken: secret("rt"))
      )
      let client = try ClientGrant(scopes: []).kept()
      let found: [ProviderFailure?] = [
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) },
        await failure { () throws(ProviderFailure) in try await provider.refresh(client) },
        await failure { () throws(ProviderFailure) in
          try await provider.accessToken(for: TokenTarget(scopes: ["a"]), refreshToken: token)
        },
        await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) },
        await failure { () throws(ProviderFailure) in try await provider.revoke(tokens, everywhere: false) },
        await failure { () throws(ProviderFailure) in try await provider.revoke(tokens, everywhere: true) },
      ]
      #expect(found == Array(repeating: .transient(.invalidResponse), count: 6))
      #expect(server.requests.allSatisfy { $0.path.hasPrefix("/.well-known") })
    }
  }

  @Test(arguments: [
    "{}", "[]", #"{"issuer":"https://other.example"}"#, #"{"issuer":7,"token_endpoint":"https://other.example/t"}"#,
    #"{"issuer":"","token_endpoint":"https://other.example/t"}"#,
    #"{"issuer":"guest network","token_endpoint":"https://other.example/t"}"#,
    #"{"issuer":"https://other.example","token_endpoint":true}"#, #"{"login":"https://portal.example/"}"#, "<html>",
  ])
  func `what does not describe any provider is a trouble that passes`(_ body: String) async throws {
    try await FakeProvider.run(always: FakeProvider.Reply(200, body)) { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let credentials = try Credentials.ann()
        let found = await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
        #expect(found == .transient(.invalidResponse))
      }
    }
  }

  @Test func `a document of RFC 8414 that is somebody else's hides none that is the provider's own`() async throws {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      case Self.oauth + "/tenant": FakeProvider.Reply(200, document(issuer))
      case "/tenant" + Self.oauth: FakeProvider.Reply(200, document(issuer + "/tenant"))
      case "/tenant/token": Self.tokens
      default: .notFound
      }
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer + "/tenant")) { provider in
        _ = try await provider.login(.ann())
      }
    }
  }

  @Test func `where the configuration names the endpoints, a foreign document of RFC 8414 is left aside`() async throws
  {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      case Self.oauth: FakeProvider.Reply(200, document(issuer + "/"))
      case "/mine": Self.tokens
      default: .notFound
      }
    } _: { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      dialect.endpoints[.token] = server.issuer + "/mine"
      try await withProvider(dialect) { provider in
        _ = try await provider.login(.ann())
        let device = Credentials(method: .deviceCode)
        #expect(await failure { () throws(ProviderFailure) in try await provider.login(device) } == .unsupported)
      }
    }
  }

  @Test func `one issuer for each tenant is recognised by its template and its id`() {
    let id = "9188040d-6c67-4c5b-b112-36a304b66dad"
    let other = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    let base = "https://login.microsoftonline.com/"
    let common = IssuerCheck(.microsoft(tenant: "common"))
    #expect(common.isOwn(metadata: base + "{tenantid}/v2.0") && common.isOwn(metadata: base + id + "/v2.0"))
    #expect(common.isOwn(token: base + id + "/v2.0", tenant: id))
    #expect(
      !common.isOwn(token: base + id + "/v2.0", tenant: other) && !common.isOwn(token: base + id + "/v2.0", tenant: nil)
    )
    #expect(!common.isOwn(token: "https://evil.example/" + id + "/v2.0", tenant: id))
    #expect(!common.isOwn(metadata: base + id + "/v1.0") && !common.isOwn(metadata: base + "x/v2.0"))
    let one = IssuerCheck(.microsoft(tenant: id))
    #expect(one.isOwn(token: base + id + "/v2.0", tenant: id))
    #expect(!one.isOwn(token: base + other + "/v2.0", tenant: other))
  }

  @Test(arguments: [
    (#"{"issuer":"https://other.example","token_endpoint":"https://other.example/t"}"#, ConfigurationFault.issuer),
    ("{}", nil), ("<html>", nil),
  ])
  func `a probe sees whose document it is`(_ body: String, _ fault: ConfigurationFault?) async throws {
    try await FakeProvider.run(always: FakeProvider.Reply(200, body)) { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let probe = await provider.probe()
        #expect(probe.fault == fault)
        guard case .answered(200, _, _) = probe.outcome else {
          Issue.record("the provider answers: \(probe)")
          return
        }
      }
    }
  }
}
