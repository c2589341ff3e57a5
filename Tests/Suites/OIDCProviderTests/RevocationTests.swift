import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// The end of sessions, and whose they were.
@Suite(.standardTimeLimit) struct RevocationTests {
  private func tokens(refresh: Bool = true) throws -> TokenSet {
    TokenSet(
      accessToken: try secret("at"), accessTokenExpiresAt: nil, refreshToken: refresh ? try secret("rt") : nil,
      idToken: try secret("it"))
  }

  @Test func `the refresh token is ended first, then the access token`() async throws {
    try await withProvider(reply: FakeProvider.Reply(200, "", [])) { provider, server in
      try await provider.revoke(tokens(), everywhere: false)
      #expect(
        server.requests(at: "/revoke").map(\.body) == [
          "token=rt&token_type_hint=refresh_token&client_id=cli", "token=at&token_type_hint=access_token&client_id=cli",
        ])
      #expect(server.requests(at: "/logout").isEmpty)
      // That the user's session has ended cannot be told without a browser.
      let alone = try tokens(refresh: false)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.revoke(alone, everywhere: true) }
          == .unsupported)
      #expect(server.requests(at: "/logout").map(\.body) == ["id_token_hint=it&client_id=cli"])
    }
  }

  @Test func `access tokens that cannot be ended end by themselves`() async throws {
    try await withProvider { request, _ in
      request.form["token_type_hint"] == "access_token"
        ? FakeProvider.Reply(400, #"{"error":"unsupported_token_type"}"#) : FakeProvider.Reply(200, "", [])
    } _: { provider, _ in
      try await provider.revoke(tokens(), everywhere: false)
      let alone = try tokens(refresh: false)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.revoke(alone, everywhere: false) }
          == .unsupported)
    }
  }

  @Test(
    arguments: [
      (503, "", .transient(.providerUnavailable)), (401, #"{"error":"invalid_client"}"#, .misconfigured(.client)),
      (200, "<html>", .transient(.invalidResponse)), (302, "", .transient(.invalidResponse)),
    ] as [(Int, String, ProviderFailure)])
  func `that it did not end is told`(_ status: Int, _ body: String, _ expected: ProviderFailure) async throws {
    try await withProvider(reply: FakeProvider.Reply(status, body, [])) { provider, _ in
      let tokens = try tokens()
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.revoke(tokens, everywhere: false) } == expected
      )
    }
  }

  @Test func `a token that is no good any more is as good as ended`() async throws {
    for code in ["invalid_token", "invalid_grant"] {
      try await withProvider { request, _ in
        request.form["token_type_hint"] == "refresh_token"
          ? FakeProvider.Reply(400, #"{"error":"\#(code)"}"#) : FakeProvider.Reply(200, "", [])
      } _: { provider, server in
        try await provider.revoke(tokens(), everywhere: false)
        #expect(server.requests(at: "/revoke").count == 2)
      }
    }
  }

  @Test func `Keycloak's session is ended by its refresh token`() async throws {
    try await withProvider(metadata: "") { dialect in
      dialect.quirks.endsSessionWithRefreshToken = true
    } answer: { request, _ in
      request.path == "/logout" ? FakeProvider.Reply(204, "", []) : FakeProvider.Reply(200, "", [])
    } _: { provider, server in
      try await provider.revoke(tokens(), everywhere: true)
      #expect(server.requests.dropFirst().map(\.path) == ["/logout", "/revoke", "/revoke"])
      #expect(server.requests(at: "/logout").map(\.body) == ["refresh_token=rt&client_id=cli"])
    }
  }

  @Test func `a provider without such an endpoint cannot do it`() async throws {
    try await FakeProvider.run { request, issuer in
      request.path.hasSuffix("openid-configuration")
        ? FakeProvider.Reply(200, #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#) : .notFound
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let tokens = try tokens()
        for everywhere in [false, true] {
          #expect(
            await failure { () throws(ProviderFailure) in try await provider.revoke(tokens, everywhere: everywhere) }
              == .unsupported)
        }
        let token = tokens.accessToken
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) }
            == .unsupported)
      }
    }
  }

  @Test(arguments: [401, 403, 404, 410])
  func `where all documents are gone a session's end is tried again, and a login says where to look`(
    _ status: Int
  ) async throws {
    try await FakeProvider.run(always: FakeProvider.Reply(status, "", [])) { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let (tokens, ann) = (try tokens(), try Credentials.ann())
        for everywhere in [false, true] {
          #expect(
            await failure { () throws(ProviderFailure) in try await provider.revoke(tokens, everywhere: everywhere) }
              == .transient(.invalidResponse))
        }
        let (access, refresh) = (tokens.accessToken, try BoundToken(secret("rt")))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: access) }
            == .transient(.invalidResponse))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(refresh) }
            == .transient(.invalidResponse))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(ann) } == .misconfigured(.address))
      }
      // A provider without documents whose token endpoint is given has no other endpoints.
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      dialect.give(server.issuer + "/token", for: .token)
      try await withProvider(dialect) { provider in
        let tokens = try tokens()
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.revoke(tokens, everywhere: false) }
            == .unsupported)
      }
    }
  }

  @Test(
    arguments: [
      (403, "<html></html>", .transient(.invalidResponse)), (403, "", .transient(.forbidden)),
      (403, #"{"error":"access_denied"}"#, .refused(.consentDenied)), (400, "", .refused(.providerRejected)),
    ] as [(Int, String, ProviderFailure)])
  func `a firewall in the way of a revocation passes`(
    _ status: Int, _ body: String, _ expected: ProviderFailure
  ) async throws {
    try await withProvider(reply: FakeProvider.Reply(status, body, [])) { provider, _ in
      let tokens = TokenSet(accessToken: try secret("at"), accessTokenExpiresAt: nil, refreshToken: try secret("rt"))
      let found = await failure { () throws(ProviderFailure) in try await provider.revoke(tokens, everywhere: false) }
      #expect(found == expected)
    }
  }

  @Test func `the user is told by whoever has the access token`() async throws {
    try await withProvider { request, _ in
      request.fields["authorization"] == "Bearer at"
        ? FakeProvider.Reply(200, #"{"sub":"u1","email":"ann@example.com"}"#) : FakeProvider.Reply(401, "", [])
    } _: { provider, _ in
      #expect(
        try await provider.currentUser(accessToken: BoundToken(secret("at")))
          == User(id: "u1", email: "ann@example.com"))
      let other = try BoundToken(secret("other"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: other) }
          == .tokenRefused)
    }
  }

  @Test(
    arguments: [
      (403, "", .refused(.insufficientScope)), (404, "", .refused(.providerRejected)),
      (500, "", .transient(.providerUnavailable)), (302, "", .transient(.invalidResponse)),
      (200, "{}", .refused(.invalidResponse)), (200, #"{"sub":7.5}"#, .refused(.invalidResponse)),
      (200, "x", .refused(.invalidResponse)),
    ] as [(Int, String, ProviderFailure)])
  func `that nobody tells the user has its reason`(_ status: Int, _ body: String, _ expected: ProviderFailure)
    async throws
  {
    try await withProvider(reply: FakeProvider.Reply(status, body, [])) { provider, _ in
      let token = try BoundToken(secret("at"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) } == expected)
    }
  }

  @Test(arguments: [
    ("https://accounts.google.com", RevocationHabit.grant), ("https://acme.eu.auth0.com/", .grant),
    ("https://sso.example.com/realms/acme", .grant), ("https://sso.example.com/auth/realms/acme", .grant),
    ("https://gitlab.com", nil), ("https://notauth0.com/", nil), ("https://auth0.com.example.net/", nil),
    ("https://login.example.com/tenant", nil), ("no address", nil),
  ])
  func `what ends with a token is known of some issuers, and of no others`(_ issuer: String, _ habit: RevocationHabit?)
  {
    #expect(RevocationHabit(ofIssuer: issuer) == habit)
  }

  @Test func `a provider's habit is its issuer's, under whatever type it is configured`() throws {
    #expect(RevocationHabit(ofIssuer: OIDCDialect.google.issuer) == .grant)
    #expect(RevocationHabit(ofIssuer: OIDCDialect.auth0(domain: "acme.auth0.com").issuer) == .grant)
    #expect(RevocationHabit(ofIssuer: OIDCDialect.keycloak(baseURL: "https://a.example/", realm: "b").issuer) == .grant)
    #expect(RevocationHabit(ofIssuer: OIDCDialect.microsoft(tenant: "common").issuer) == nil)
  }
}
