import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Tokens for other scopes, or another audience, than the session's own.
@Suite(.standardTimeLimit) struct TargetTests {
  private static let tokens = FakeProvider.Reply(
    200, #"{"access_token":"at","refresh_token":"rt2","token_type":"bearer"}"#)
  private static let target = TokenTarget(scopes: ["a"], audience: "urn:x")

  /// The dialect of a server that is not asked for its metadata.
  private func dialect(_ server: FakeProvider) -> OIDCDialect {
    var dialect = OIDCDialect(type: "oidc", issuer: server.issuer, scopes: ["openid", "a"])
    dialect.usesDiscovery = false
    dialect.endpoints = [.token: server.issuer + "/token"]
    return dialect
  }

  @Test(
    arguments: [
      (OIDCQuirks.Target.resource, "resource"), (.audience, "audience"), (.none, nil),
    ] as [(OIDCQuirks.Target, String?)])
  func `a token for another audience is asked for as the provider wants it`(
    _ target: OIDCQuirks.Target, _ name: String?
  ) async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      var dialect = dialect(server)
      dialect.quirks.target = target
      try await withProvider(dialect) { provider in
        let token = try BoundToken(secret("rt"))
        let result = await failure { () throws(ProviderFailure) in
          let tokens = try await provider.accessToken(
            for: TokenTarget(scopes: ["a"], audience: "urn:x"), refreshToken: token)
          #expect(tokens.scopes == ["a"] && tokens.refreshToken != nil)
        }
        #expect(result == (name == nil ? .unsupported : nil))
      }
      #expect(server.requests.first?.form[name ?? "?"] == name.map { _ in "urn:x" })
      #expect(server.requests.count == (name == nil ? 0 : 1))
    }
  }

  @Test func `a token for fewer scopes is for the same resource as the session's`() async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      var dialect = dialect(server)
      dialect.resource = "urn:own"
      try await withProvider(dialect) { provider in
        let token = try BoundToken(secret("rt"))
        _ = try await provider.accessToken(for: TokenTarget(scopes: ["a"]), refreshToken: token)
        _ = try await provider.accessToken(
          for: TokenTarget(scopes: ["a"], audience: "urn:x"), refreshToken: token)
      }
      #expect(server.requests.map { $0.form["resource"] } == ["urn:own", "urn:x"])
    }
  }

  /// A provider that is known by name, and what it is asked for a target; nil where it is not asked.
  struct Preset: Sendable, CustomTestStringConvertible {
    let dialect: OIDCDialect
    let target: TokenTarget
    let form: [String: String]?
    var testDescription: String { "\(dialect.type) \(target)" }
  }

  private static let graph = TokenTarget(scopes: ["https://management.azure.com/.default"])
  private static let presets: [Preset] = [
    Preset(dialect: .auth0(domain: "x"), target: target, form: ["scope": "a", "audience": "urn:x"]),
    Preset(dialect: .auth0(domain: "x"), target: TokenTarget(audience: "urn:x"), form: ["audience": "urn:x"]),
    Preset(
      dialect: .keycloak(baseURL: "https://x", realm: "r"), target: target, form: ["scope": "a", "resource": "urn:x"]),
    Preset(dialect: .microsoft(tenant: "common"), target: graph, form: ["scope": graph.scopes[0]]),
    Preset(dialect: .microsoft(tenant: "common"), target: target, form: nil),
    Preset(dialect: .google, target: TokenTarget(audience: "urn:x"), form: nil),
    Preset(dialect: .google, target: TokenTarget(scopes: ["a"]), form: ["scope": "a"]),
    Preset(dialect: .github, target: TokenTarget(scopes: ["a"]), form: nil),
    Preset(dialect: .github, target: TokenTarget(audience: "urn:x"), form: nil),
  ]

  @Test(arguments: presets) func `each provider is asked in its own way, or not at all`(_ preset: Preset) async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      var dialect = preset.dialect
      dialect.usesDiscovery = false
      dialect.endpoints = [.token: server.issuer + "/token"]
      try await withProvider(dialect) { provider in
        #expect(provider.canGive(preset.target) == (preset.form != nil))
        guard let form = preset.form else { return }
        _ = try await provider.accessToken(for: preset.target, refreshToken: BoundToken(secret("rt")))
        let sent = try #require(server.requests.first?.form)
        #expect(sent["grant_type"] == "refresh_token" && sent["refresh_token"] == "rt")
        for name in ["scope", "audience", "resource"] { #expect(sent[name] == form[name], "\(name)") }
      }
    }
  }

  @Test(
    arguments: [
      (400, "invalid_scope", .insufficientScope), (400, "invalid_target", .insufficientScope),
      (400, "invalid_resource", .insufficientScope), (403, "access_denied", .insufficientScope),
      (400, "invalid_grant", .sessionExpired), (400, "consent_required", .reauthRequired),
      (400, "interaction_required", .reauthRequired), (401, "invalid_client", .providerRejected),
      (400, "invalid_request", .providerRejected), (503, "access_denied", .providerUnavailable),
      (400, "server_error", .providerUnavailable),
    ] as [(Int, String, ErrorKind)])
  func `a refusal is told as what it is`(_ status: Int, _ code: String, _ kind: ErrorKind) async throws {
    try await withProvider(reply: FakeProvider.Reply(status, #"{"error":"\#(code)"}"#, [])) { provider, _ in
      let token = try BoundToken(secret("rt"))
      let found = await failure { () throws(ProviderFailure) in
        try await provider.accessToken(for: Self.target, refreshToken: token)
      }
      #expect(found?.kind == kind)
    }
  }

  @Test func `a reply that is lost leaves the outcome open, and nothing is sent twice`() async throws {
    try await withProvider(reply: .lost) { provider, server in
      let token = try BoundToken(secret("rt"))
      let found = await failure { () throws(ProviderFailure) in
        try await provider.accessToken(for: Self.target, refreshToken: token)
      }
      #expect(found == .outcomeUnknown(.networkUnavailable))
      #expect(server.requests(at: "/token").count == 1)
    }
  }
}
