import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

@testable import OIDCProvider

/// What a close look at a provider finds without credentials.
@Suite(.standardTimeLimit) struct ExaminationTests {
  private static let openID = "/.well-known/openid-configuration"

  /// What is found where the first document is this, and the rest is not there.
  private func findings(
    _ reply: @escaping @Sendable (_ issuer: String) -> FakeProvider.Reply,
    authentication: OIDCDialect.ClientAuthentication = .none,
    _ configure: @escaping @Sendable (inout OIDCDialect) -> Void = { _ in }
  ) async throws -> [ProviderFinding] {
    var found: [ProviderFinding] = []
    try await FakeProvider.run { request, issuer in
      // What the token endpoint says of the made-up token of a client that it knows.
      if request.method == "POST" { return FakeProvider.Reply(400, #"{"error":"invalid_grant"}"#) }
      return request.path.hasSuffix(Self.openID) ? reply(issuer) : .notFound
    } _: { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      configure(&dialect)
      try await withProvider(dialect, clientSecret: "made-up", authentication: authentication) { provider in
        found = await provider.examine()
      }
      for request in server.requests {
        if request.method == "POST" {
          #expect(request.form["grant_type"] == "refresh_token")
          #expect(request.form["refresh_token"] == "authbroker-provider-check-is-no-token")
        } else {
          #expect(request.method == "GET" && request.body.isEmpty && request.fields["authorization"] == nil)
        }
      }
    }
    return found
  }

  private func document(_ issuer: String, _ members: String) -> FakeProvider.Reply {
    FakeProvider.Reply(200, #"{"issuer":"\#(issuer)"\#(members)}"#)
  }

  @Test func `a provider that has everything is found to be well`() async throws {
    let all =
      #","code_challenge_methods_supported":["S256"],"authorization_response_iss_parameter_supported":true,"#
      + #""grant_types_supported":["refresh_token","authorization_code","password","client_credentials","#
      + #""urn:ietf:params:oauth:grant-type:device_code"],"token_endpoint_auth_methods_supported":["none"],"#
      + #""scopes_supported":["openid"]"#
    let found = try await findings { FakeProvider.Reply(200, OIDCProviderTests.document($0, all)) }
    #expect(found.filter { $0.level != .ok && $0.check != "clock" } == [])
    #expect(
      found.map(\.check) == [
        "reachable", "clock", "issuer", "endpoints", "pkce", "issuerInReply", "grants", "clientAuth", "scopes",
        "client",
      ])
  }

  @Test(arguments: [
    (401, #"{"error":"invalid_client"}"#, ProviderFinding.Level.failure),
    (400, #"{"error":"invalid_client"}"#, .failure),
    (400, #"{"error":"invalid_grant"}"#, .ok), (400, #"{"error":"unauthorized_client"}"#, .note), (500, "", .note),
    (200, "{}", .note),
  ])
  func `whether the provider knows the client is asked with a token that nobody has`(
    _ status: Int, _ body: String, _ level: ProviderFinding.Level
  ) async throws {
    try await FakeProvider.run { request, issuer in
      request.method == "POST"
        ? FakeProvider.Reply(status, body) : FakeProvider.Reply(200, OIDCProviderTests.document(issuer, ""))
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let client = try #require(await provider.examine().first { $0.check == "client" })
        #expect(client.level == level && (client.advice != nil) == (level == .failure))
        #expect(client.errorKind == (level == .failure ? .providerRejected : nil))
      }
      #expect(server.requests.filter { $0.method == "POST" }.allSatisfy { $0.form["client_id"] != nil })
    }
  }

  @Test(arguments: ["/", "/realms/acme"])
  func `another issuer is a failure that names both and the line to change`(_ more: String) async throws {
    let found = try await findings { self.document($0 + more, "") }
    let issuer = try #require(found.first { $0.check == "issuer" })
    #expect(issuer.level == .failure && issuer.errorKind == .configInvalid)
    #expect(issuer.message.contains("trailing slash") == (more == "/"))
    let named = try #require(issuer.message.split(separator: "\"").dropFirst().first)
    #expect(named.hasSuffix(more) && issuer.message.contains("the configuration \"" + named.dropLast(more.utf8.count)))
    #expect(issuer.advice == "In the profile's section write: issuer: \"\(named)\"")
  }

  @Test func `an issuer of somebody else is only to be trusted by whoever trusts it`() async throws {
    let found = try await findings { _ in self.document("https://other.example", "") }
    #expect(found.first { $0.check == "issuer" }?.advice?.hasPrefix("If you trust that one") == true)
  }

  @Test func `what a provider writes steers no terminal and fills no screen`() async throws {
    let long = String(repeating: "x", count: 5000)
    let found = try await findings { _ in self.document(#"https://a\u001b[31m\u202e\#(long)"#, "") }
    let message = try #require(found.first { $0.check == "issuer" }?.message)
    #expect(message.utf8.count < 600 && !message.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
  }

  @Test func `what is lost without an endpoint is said`() async throws {
    let found = try await findings { self.document($0, #","authorization_endpoint":"\#($0)/authorize""#) }
    let losses: [(String, ProviderFinding.Level, String)] = [
      ("token", .failure, "no login"), ("deviceAuthorization", .note, "no --method deviceCode"),
      ("revocation", .warning, "ends the session here only"), ("userinfo", .note, "only from the ID token"),
      ("endSession", .note, "leaves the browser logged in"),
    ]
    for (name, level, words) in losses {
      let finding = try #require(found.first { $0.check == "endpoint." + name })
      #expect(finding.level == level && finding.message.contains(words), "\(finding)")
    }
    #expect(found.first { $0.check == "endpoints" }?.message.hasSuffix(": authorization") == true)
  }

  @Test func `an endpoint that the configuration names is not missed`() async throws {
    let found = try await findings {
      self.document($0, "")
    } _: {
      $0.endpoints[.token] = $0.issuer + "/token"
    }
    #expect(!found.contains { $0.check == "endpoint.token" })
  }

  @Test(arguments: [
    (#","code_challenge_methods_supported":["plain"]"#, "pkce", ProviderFinding.Level.failure, "S256"),
    ("", "pkce", .warning, "does not announce"),
    (#","token_endpoint_auth_methods_supported":["client_secret_basic"]"#, "clientAuth", .warning, #": "basic""#),
    (#","token_endpoint_auth_methods_supported":["private_key_jwt"]"#, "clientAuth", .warning, "registration"),
    (#","grant_types_supported":["authorization_code"]"#, "grants.refresh_token", .warning, "access token"),
    (#","grant_types_supported":["refresh_token"]"#, "grants.device_code", .note, "--method deviceCode"),
    (#","scopes_supported":["email"]"#, "scopes", .warning, "openid"),
    (#","scopes_supported":["openid","offline_access"]"#, "scopes.offline", .note, "offline_access"),
    (#","scopes_supported":["openid","profile"]"#, "scopes.profile", .note, "user's name"),
    (#","scopes_supported":["openid","email"]"#, "scopes.email", .note, "user's e-mail address"),
    ("", "issuerInReply", .note, "RFC 9207"), ("", "dpop", .warning, "not announce"),
    (#","dpop_signing_alg_values_supported":["RS256","ES256"]"#, "dpop", .ok, "ES256"),
    (#","dpop_signing_alg_values_supported":["EdDSA"]"#, "dpop", .failure, "not with ES256"),
  ])
  func `what the provider lists is compared with what the profile wants`(
    _ members: String, _ check: String, _ level: ProviderFinding.Level, _ words: String
  ) async throws {
    let found = try await findings(
      { FakeProvider.Reply(200, OIDCProviderTests.document($0, members)) }, authentication: .post,
      { $0.bindsTokens = true })
    let finding = try #require(found.first { $0.check == check }, "\(found)")
    #expect(finding.level == level && (finding.message + (finding.advice ?? "")).contains(words), "\(finding)")
  }

  @Test func `an endpoint in the clear is not used, and one elsewhere is worth a note`() {
    var description = ProviderDescription()
    description.issuer = "https://id.example"
    description.endpoints = [.token: "http://id.example/token", .userinfo: "https://api.example/me"]
    let review = DescriptionReview(
      description: description, dialect: OIDCDialect(type: "oidc", issuer: "https://id.example"), authentication: .none)
    let found = review.findings
    #expect(found.first { $0.check == "endpoint.token" }?.level == .failure)
    #expect(found.first { $0.check == "endpoint.userinfo" }?.message.hasSuffix("another host: api.example") == true)
  }

  @Test func `presets name the settings that their issuer is made of`() {
    let presets: [(OIDCDialect, String)] = [
      (.keycloak(baseURL: "https://a.example", realm: "x"), "baseUrl and realm"),
      (.auth0(domain: "a.example"), "domain"), (.microsoft(tenant: "common"), "tenant"),
      (.gitlab(baseURL: "https://a.example"), "baseUrl"), (.google, "provider"), (.github, "provider"),
    ]
    for (dialect, names) in presets {
      #expect(IssuerSetting(dialect).correction("https://b.example").contains("Check \(names) "))
    }
  }

  @Test(arguments: [
    (FakeProvider.Reply(200, "<html>Log in", ["Content-Type: text/html"]), "is a web page"),
    (FakeProvider.Reply(200, "[]"), "is not a JSON object"), (FakeProvider.Reply(404, "{}"), "no discovery document"),
    (FakeProvider.Reply(302, "", ["Location: https://other.example/login"]), "redirects to https://other.example"),
  ])
  func `what is no document is told apart`(_ reply: FakeProvider.Reply, _ words: String) async throws {
    let found = try await findings { _ in reply }
    let document = try #require(found.first { $0.check == "document" })
    #expect(document.level == .failure && document.message.contains(words), "\(document)")
    #expect(document.errorKind == .invalidResponse && found.last == document)
  }

  @Test func `a provider that is not well is not looked at any closer`() async throws {
    let found = try await findings { _ in FakeProvider.Reply(503, "{}") }
    #expect(found.first { $0.level == .failure }?.errorKind == .providerUnavailable)
    #expect(!found.contains { $0.check == "document" || $0.check == "issuer" })
  }

  @Test(arguments: [OIDCDialect.ClientAuthentication.basic, .post])
  func `a password of the client that cannot be had is found, and the provider is looked at all the same`(
    _ authentication: OIDCDialect.ClientAuthentication
  ) async throws {
    try await FakeProvider.run(always: .notFound) { server in
      for issuer in [server.issuer, "http://127.0.0.1:1"] {
        let dialect = OIDCDialect(type: "oidc", issuer: issuer)
        try await withProvider(dialect, authentication: authentication, secrets: noSecret) { provider in
          let found = await provider.examine()
          let secret = try #require(found.first { $0.check == "clientSecret" })
          #expect(secret.level == .failure && secret.errorKind == .configInvalid && secret.advice != nil)
          #expect(found.contains { $0.check == "reachable" && ($0.level == .ok) == (issuer == server.issuer) })
        }
        try await withProvider(dialect, clientSecret: "made-up", authentication: authentication) { provider in
          let found = await provider.examine()
          #expect(found.first { $0.check == "clientSecret" }?.level == .ok && !"\(found)".contains("made-up"))
        }
      }
    }
  }

  @Test func `scopes that are asked for are known`() async throws {
    try await withProvider(OIDCDialect(type: "oidc", issuer: "http://127.0.0.1:1", scopes: ["a", "b"])) { provider in
      #expect(provider.requestedScopes == ["a", "b"])
    }
  }
}
