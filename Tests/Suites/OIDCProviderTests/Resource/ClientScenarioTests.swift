import BrokerCore
import BrokerProtocol
import ConfigurationFile
import ProviderKit
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// The scenarios that the Model Context Protocol has for its clients, each under its name there: what an authorization
/// server may do, and what a client must.
@Suite(.standardTimeLimit) struct ClientScenarioTests {
  private static let secret = SecretReference("clientSecret", .environment("S"))

  /// Logs in once at a server.
  private func login(
    _ script: ResourceScript, scopes: [String] = [], answer: String = "",
    _ change: @escaping (inout OIDCProfileConfiguration) -> Void = { _ in },
    _ body: (ResourceStage, ResourceStage.Login) async throws -> Void
  ) async throws {
    try await ResourceStage.run {
      script
    } _: { stage in
      let login = try await stage.logIn(try stage.provider(path: script.path, change), scopes: scopes, answer: answer)
      try await body(stage, login)
    }
  }

  /// The failure of a login that a server makes impossible.
  private func refusal(_ script: ResourceScript) async throws -> ProviderFailure? {
    var found: ProviderFailure?
    try await ResourceStage.run {
      script
    } _: { stage in
      let provider = try stage.provider()
      found = await failure { () throws(ProviderFailure) in try await provider.login(Credentials(method: .browser)) }
      #expect(stage.server.requests(at: "/register").isEmpty && stage.tokenForms.isEmpty)
    }
    return found
  }

  // MARK: Metadata

  struct Place: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let document: String
    let challenge: String?
    let issuerPath: String
    let metadata: String
  }

  static let places = [
    Place(
      testDescription: "metadata-default", document: "/.well-known/oauth-protected-resource/mcp", challenge: nil,
      issuerPath: "", metadata: "/.well-known/oauth-authorization-server"),
    Place(
      testDescription: "metadata-var1", document: "/.well-known/oauth-protected-resource/mcp", challenge: nil,
      issuerPath: "", metadata: "/.well-known/openid-configuration"),
    Place(
      testDescription: "metadata-var2", document: "/.well-known/oauth-protected-resource", challenge: nil,
      issuerPath: "/tenant1", metadata: "/.well-known/oauth-authorization-server/tenant1"),
    Place(
      testDescription: "metadata-var3", document: "/custom/metadata/location.json",
      challenge: #"resource_metadata="@/custom/metadata/location.json""#, issuerPath: "/tenant1",
      metadata: "/tenant1/.well-known/openid-configuration"),
    Place(
      testDescription: "OpenID Connect by insertion", document: "/.well-known/oauth-protected-resource/mcp",
      challenge: nil, issuerPath: "/tenant1", metadata: "/.well-known/openid-configuration/tenant1"),
  ]

  @Test(arguments: places) func `metadata are found`(at place: Place) async throws {
    var script = ResourceScript()
    script.documentPath = place.document
    script.challenge = place.challenge ?? "realm=x"
    script.issuerPath = place.issuerPath
    script.metadataPath = place.metadata
    try await login(script) { stage, login in
      let session = try login.session
      #expect(session.tokens.accessToken.client?.issuer == stage.server.issuer + place.issuerPath)
      #expect(login.query["code_challenge_method"] == "S256" && login.query["client_id"]?.hasPrefix("made-") == true)
      #expect(login.query["resource"] == stage.server.issuer + "/mcp")
      #expect(stage.tokenForms.map { $0["resource"] } == [stage.server.issuer + "/mcp"])
    }
  }

  @Test func `metadata-issuer-mismatch`() async throws {
    var script = ResourceScript()
    script.issuer = "https://other.example"
    #expect(try await refusal(script) == .misconfigured(.issuer))
  }

  @Test func `resource-mismatch`() async throws {
    var script = ResourceScript()
    script.resource = "https://evil.example/mcp"
    #expect(try await refusal(script) == .misconfigured(.resource))
  }

  // MARK: The client

  @Test func `basic-cimd`() async throws {
    var script = ResourceScript()
    script.metadataMembers += #","client_id_metadata_document_supported":true"#
    let address = "https://me.example/authbroker.json"
    try await login(script) {
      $0.resourcePlan?.clientMetadataURL = address
    } _: { stage, login in
      let session = try login.session
      #expect(session.tokens.accessToken.client?.id == address)
      #expect(login.query["client_id"] == address && stage.server.requests(at: "/register").isEmpty)
      #expect(stage.tokenForms.map { $0["client_id"] } == [address])
    }
    script.metadataMembers = ResourceScript().metadataMembers
    try await login(script) {
      $0.resourcePlan?.clientMetadataURL = address
    } _: { _, login in
      #expect(login.query["client_id"]?.hasPrefix("made-") == true)
    }
  }

  @Test func `pre-registration`() async throws {
    try await login(ResourceScript()) { found in
      (found.clientID, found.clientSecret, found.clientAuthentication) = ("mine", Self.secret, .basic)
    } _: { stage, login in
      _ = try login.session
      #expect(login.query["client_id"] == "mine" && stage.server.requests(at: "/register").isEmpty)
      // mine:configured-secret
      let header = try #require(stage.server.requests(at: "/token").first).fields["authorization"]
      #expect(header == "Basic bWluZTpjb25maWd1cmVkLXNlY3JldA==")
    }
  }

  @Test(arguments: ["none", "client_secret_basic", "client_secret_post"])
  func `token-endpoint-auth`(method: String) async throws {
    var script = ResourceScript()
    script.metadataMembers =
      #","registration_endpoint":"@/register","code_challenge_methods_supported":["S256"],"#
      + #""token_endpoint_auth_methods_supported":["\#(method)"]"#
    if method != "none" { script.registered = #","client_secret":"made-up","client_secret_expires_at":0"# }
    try await login(script) { stage, login in
      _ = try login.session
      let request = try #require(stage.server.requests(at: "/token").last)
      let registration = try #require(stage.server.requests(at: "/register").first).body
      #expect(registration.contains("\"token_endpoint_auth_method\":\"\(method)\""))
      #expect((request.fields["authorization"] != nil) == (method == "client_secret_basic"))
      #expect((request.form["client_secret"] == "made-up") == (method == "client_secret_post"))
    }
  }

  @Test func `client-credentials-basic`() async throws {
    try await ResourceStage.run {
      ResourceScript()
    } _: { stage in
      let provider = try stage.provider { found in
        (found.clientID, found.clientSecret, found.clientAuthentication) = ("mine", Self.secret, .basic)
      }
      let outcome = try await provider.login(Credentials(method: .clientCredentials))
      let tokens = try #require(outcome.session).tokens
      let request = try #require(stage.server.requests(at: "/token").first)
      #expect(request.form["grant_type"] == "client_credentials" && request.form["client_secret"] == nil)
      #expect(request.form["resource"] == stage.server.issuer + "/mcp" && request.form["refresh_token"] == nil)
      #expect(request.fields["authorization"] == "Basic bWluZTpjb25maWd1cmVkLXNlY3JldA==")
      #expect(provider.areClientsOwn(tokens))
      _ = try await provider.refresh(try #require(tokens.refreshToken))
      #expect(stage.tokenForms.map { $0["grant_type"] } == ["client_credentials", "client_credentials"])
    }
  }

  // MARK: Scopes

  @Test func `scope-from-www-authenticate`() async throws {
    var script = ResourceScript()
    script.challenge = (script.challenge ?? "") + #", scope="mcp:basic""#
    script.documentMembers = #","scopes_supported":["mcp:basic","mcp:admin"]"#
    try await login(script) { _, login in #expect(login.scopes == ["mcp:basic"]) }
  }

  @Test func `scope-from-scopes-supported`() async throws {
    var script = ResourceScript()
    script.documentMembers = #","scopes_supported":["mcp:read","mcp:write"]"#
    try await login(script) { _, login in #expect(login.scopes == ["mcp:read", "mcp:write"]) }
  }

  @Test func `scope-omitted-when-undefined`() async throws {
    try await login(ResourceScript()) { stage, login in
      #expect(login.query["scope"] == nil && login.query["nonce"] == nil)
      let session = try login.session
      #expect(session.tokens.scopes.isEmpty)
    }
  }

  @Test func `offline-access-scope`() async throws {
    var script = ResourceScript()
    script.documentMembers = #","scopes_supported":["mcp:read"]"#
    script.metadataMembers += #","scopes_supported":["mcp:read","offline_access"]"#
    try await login(script) { stage, login in
      #expect(login.scopes == ["mcp:read", "offline_access"])
      let registration = try #require(stage.server.requests(at: "/register").first).body
      #expect(registration.contains(#""grant_types":["authorization_code","refresh_token"]"#))
      #expect(registration.contains(#""application_type":"native""#))
    }
  }

  @Test func `offline-access-not-supported`() async throws {
    var script = ResourceScript()
    script.documentMembers = #","scopes_supported":["mcp:read","offline_access"]"#
    script.metadataMembers += #","scopes_supported":["mcp:read"]"#
    try await login(script) { _, login in #expect(login.scopes == ["mcp:read"]) }
  }

  // MARK: The issuer in the answer (RFC 9207)

  struct Answer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isAnnounced: Bool
    /// What is added to the answer; `@` stands for the issuer, form-encoded.
    let added: String
    let isTaken: Bool
  }

  static let answers = [
    Answer(testDescription: "iss-supported", isAnnounced: true, added: "&iss=@", isTaken: true),
    Answer(testDescription: "iss-not-advertised", isAnnounced: false, added: "", isTaken: true),
    Answer(testDescription: "iss-supported-missing", isAnnounced: true, added: "", isTaken: false),
    Answer(testDescription: "iss-wrong-issuer", isAnnounced: true, added: "&iss=https://evil.example", isTaken: false),
    Answer(testDescription: "iss-unexpected", isAnnounced: false, added: "&iss=https://evil.example", isTaken: false),
    Answer(testDescription: "iss-normalized", isAnnounced: true, added: "&iss=@/", isTaken: false),
  ]

  @Test(arguments: answers) func `the issuer of an answer is compared byte for byte`(_ row: Answer) async throws {
    try await ResourceStage.run {
      var script = ResourceScript()
      if row.isAnnounced { script.metadataMembers += #","authorization_response_iss_parameter_supported":true"# }
      return script
    } _: { stage in
      let provider = try stage.provider()
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      let visit = try BrowserVisit(action)
      let waiting = Task { () -> Result<ProviderSession, ProviderFailure> in
        do throws(ProviderFailure) { return .success(try await provider.awaitRedirect(flow: action.flow)) } catch {
          return .failure(error)
        }
      }
      let added = row.added.split(separator: "@", omittingEmptySubsequences: false).joined(
        separator: stage.server.issuer)
      _ = try await visit.open("/callback?code=c&state=\(visit.state)\(added)")
      let result = await waiting.value
      let isTaken = (try? result.get()) != nil
      #expect(isTaken == row.isTaken)
      #expect(stage.tokenForms.count == (row.isTaken ? 1 : 0))
    }
  }
}
