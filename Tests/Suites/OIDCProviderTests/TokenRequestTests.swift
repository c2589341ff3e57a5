import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// What a token endpoint is sent.
@Suite(.standardTimeLimit) struct TokenRequestTests {
  private static let tokens = FakeProvider.Reply(
    200, #"{"access_token":"at","refresh_token":"rt2","token_type":"bearer"}"#)

  /// The dialect of a server that is not asked for its metadata.
  private func dialect(_ server: FakeProvider) -> OIDCDialect {
    var dialect = OIDCDialect(type: "oidc", issuer: server.issuer, scopes: ["openid", "a"])
    dialect.usesDiscovery = false
    dialect.endpoints = [.token: server.issuer + "/token"]
    return dialect
  }

  @Test func `a client's name and password are form-encoded before they become HTTP Basic`() async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      try await withProvider(
        dialect(server), clientID: "a:b c", clientSecret: "ü%+&=/", authentication: .basic
      ) { provider in
        _ = try await provider.refresh(BoundToken(secret("rt")))
      }
      let request = try #require(server.requests.first)
      // a%3Ab+c:%C3%BC%25%2B%26%3D%2F (RFC 6749, section 2.3.1 and appendix B).
      #expect(request.fields["authorization"] == "Basic YSUzQWIrYzolQzMlQkMlMjUlMkIlMjYlM0QlMkY=")
      #expect(request.body == "grant_type=refresh_token&refresh_token=rt")
      #expect(request.fields["content-type"] == "application/x-www-form-urlencoded")
      #expect(request.fields["accept"] == "application/json")
    }
  }

  @Test func `what a profile adds stands in every request at the token endpoint, and in that for another device`()
    async throws
  {
    try await FakeProvider.run(always: Self.tokens) { server in
      var dialect = dialect(server)
      dialect.endpoints[.deviceAuthorization] = server.issuer + "/device"
      dialect.endpoints[.revocation] = server.issuer + "/revoke"
      dialect.parameters.token = [.init("organization", "o&1")]
      dialect.parameters.device = [.init("organization", "o2")]
      try await withProvider(dialect, clientID: "c") { provider in
        _ = try await provider.refresh(BoundToken(secret("rt")))
        _ = try await provider.login(Credentials(email: "a", password: secret("x")))
        _ = await failure { () throws(ProviderFailure) in try await provider.login(Credentials(method: .deviceCode)) }
        let tokens = TokenSet(accessToken: try secret("at"), accessTokenExpiresAt: nil, refreshToken: nil)
        try await provider.revoke(tokens, everywhere: false)
      }
      #expect(server.requests.map { $0.form["organization"] } == ["o&1", "o&1", "o2", nil])
    }
  }

  @Test func `the examples of RFC 6749 come out as they stand there`() async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      try await withProvider(
        dialect(server), clientID: "s6BhdRkqt3", clientSecret: "7Fjfp0ZBr1KtDRbnfVdmIw", authentication: .basic
      ) { provider in
        // Appendix B.
        _ = try await provider.login(Credentials(email: " %&+£€", password: secret("x")))
        // Section 6.
        _ = try await provider.refresh(BoundToken(secret("tGzv3JOkF0XG5Qx2TlKWIA")))
      }
      #expect(
        server.requests.map(\.body) == [
          "grant_type=password&username=+%25%26%2B%C2%A3%E2%82%AC&password=x&scope=openid+a",
          "grant_type=refresh_token&refresh_token=tGzv3JOkF0XG5Qx2TlKWIA",
        ])
      // Section 2.3.1.
      #expect(
        server.requests.allSatisfy {
          $0.fields["authorization"] == "Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3"
        })
    }
  }

  @Test func `a client's name and password stand in the form, or the name alone`() async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      try await withProvider(dialect(server), clientID: "c", clientSecret: "s&t", authentication: .post) { provider in
        _ = try await provider.refresh(BoundToken(secret("rt")))
      }
      try await withProvider(dialect(server), clientID: "c") { provider in
        _ = try await provider.refresh(BoundToken(secret("rt")))
      }
      #expect(
        server.requests.map(\.body) == [
          "grant_type=refresh_token&refresh_token=rt&client_id=c&client_secret=s%26t",
          "grant_type=refresh_token&refresh_token=rt&client_id=c",
        ])
      #expect(server.requests.allSatisfy { $0.fields["authorization"] == nil })
    }
  }

  @Test func `odd characters arrive as they were typed`() async throws {
    let odd = "a b&c=d+e%f\"\\ä💥\u{7F}~*-._"
    try await FakeProvider.run(always: Self.tokens) { server in
      try await withProvider(dialect(server)) { provider in
        _ = try await provider.login(Credentials(email: odd, password: secret(odd)))
      }
      let form = try #require(server.requests.first).form
      #expect(form["username"] == odd && form["password"] == odd && form["grant_type"] == "password")
      #expect(form["scope"] == "openid a" && form["client_id"] == "cli")
    }
  }

  @Test func `a refresh token is taken over, whether or not another comes back`() async throws {
    let replies = [#"{"access_token":"at","refresh_token":"rt2"}"#, #"{"access_token":"at"}"#]
    for reply in replies {
      try await FakeProvider.run(always: FakeProvider.Reply(200, reply)) { server in
        try await withProvider(dialect(server)) { provider in
          let credentials = Credentials(method: .refreshToken, refreshToken: try secret("rt1"))
          let session = try #require(try await provider.login(credentials).session)
          #expect(try session.tokens.refreshToken?.value == secret(reply.contains("rt2") ? "rt2" : "rt1"))
        }
        #expect(server.requests.first?.form["scope"] == nil)
      }
    }
  }

  @Test func `a refresh token is taken over for its scopes and the profile's resource`() async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      var own = dialect(server)
      own.resource = "urn:own"
      try await withProvider(own) { provider in
        let given = Credentials(method: .refreshToken, refreshToken: try secret("rt1"), scopes: ["b", "c"])
        #expect(try await provider.login(given).session?.tokens.scopes == ["b", "c"])
      }
      let form = try #require(server.requests.first).form
      #expect(form["resource"] == "urn:own" && form["scope"] == "b c" && form["grant_type"] == "refresh_token")
    }
  }

  @Test func `a client logs itself in, and asks for nothing of a user`() async throws {
    try await FakeProvider.run(always: FakeProvider.Reply(200, #"{"access_token":"at","expires_in":60}"#)) { server in
      try await withProvider(dialect(server), clientSecret: "s", authentication: .basic) { provider in
        let session = try #require(try await provider.login(Credentials(method: .clientCredentials)).session)
        #expect(session.user == nil && session.tokens.scopes == ["a"])
      }
      #expect(server.requests.map(\.body) == ["grant_type=client_credentials&scope=a"])
    }
  }

  @Test func `what is missing is named, and nothing is sent`() async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      try await withProvider(dialect(server)) { provider in
        let nothing = await failure { () throws(ProviderFailure) in try await provider.login(Credentials()) }
        #expect(nothing == .refused(.missingCredential, fields: ["email", "password"]))
        let noToken = await failure { () throws(ProviderFailure) in
          try await provider.login(Credentials(method: .refreshToken))
        }
        #expect(noToken == .refused(.missingCredential, fields: ["refreshToken"]))
        let noDevice = await failure { () throws(ProviderFailure) in
          try await provider.login(Credentials(method: .deviceCode))
        }
        #expect(noDevice == .unsupported)
      }
      var browserOnly = dialect(server)
      browserOnly.methods = [.browser]
      try await withProvider(browserOnly) { provider in
        let ann = try Credentials.ann()
        #expect(await failure { () throws(ProviderFailure) in try await provider.login(ann) } == .unsupported)
      }
      #expect(server.requests.isEmpty)
    }
  }
}
