import BrokerCore
import BrokerProtocol
import Configuration
import HTTP
import JOSE
import ProviderKit
import SecretMemory
import Signing
import TestServers
import TestSupport
import Testing
import TextCoding

@testable import OIDCProvider

/// The scenarios that the Model Context Protocol has for clients without a person, each under its name there, over
/// profiles of the type `oidc`.
@Suite(.standardTimeLimit) struct MachineScenarioTests {
  private static let resource = "https://mcp.example.com/mcp"
  private static let bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  /// An authorization server that lists what it takes, and answers token requests as a test says.
  private static func run(
    _ grant: String, authentication: String,
    _ token: @escaping @Sendable (FakeProvider.Request, _ issuer: String) -> FakeProvider.Reply,
    _ body: (FakeProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      case "/.well-known/oauth-authorization-server":
        FakeProvider.Reply(
          200,
          #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(issuer)/authorize","token_endpoint":"\#(issuer)/token","#
            + #""grant_types_supported":["\#(grant)"],"response_types_supported":["code"],"#
            + #""token_endpoint_auth_methods_supported":["\#(authentication)"],"#
            + #""token_endpoint_auth_signing_alg_values_supported":["ES256"]}"#)
      case "/token": token(request, issuer)
      default: .notFound
      }
    } _: { server in
      try await body(server)
    }
  }

  /// The providers of a configuration's profiles, in their order, and a finder of their secrets.
  private static func withProviders(
    _ profiles: String, _ secrets: @escaping SecretFinder = noSecret, _ body: ([OIDCProvider]) async throws -> Void
  ) async throws {
    let configuration = try BrokerConfiguration.parse(
      Array("{ profiles: { \(profiles) } }".utf8), file: "c", environment: [:])
    let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
    let result: Result<Void, any Error>
    do {
      let providers = try configuration.profiles.compactMap { profile -> OIDCProvider? in
        guard case .remote(let remote) = profile.provider, let found = remote as? OIDCProfileConfiguration else {
          return nil
        }
        return try OIDCProvider(found, client: client, secrets: secrets)
      }
      result = .success(try await body(providers))
    } catch { result = .failure(error) }
    await client.close()
    try result.get()
  }

  private static func finder(_ text: String) -> SecretFinder {
    { _ in Result { try Secret(utf8: text) }.mapError { _ in .transient(.overloaded) } }
  }

  private static func refusal(_ error: String) -> FakeProvider.Reply {
    FakeProvider.Reply(400, #"{"error":"\#(error)"}"#)
  }

  // MARK: Client credentials

  @Test func `client-credentials-jwt`() async throws {
    let key = try SigningKey.random()
    let der = key.withDER { bytes in Base64.encode(bytes, as: .padded) }
    let label = "EC PRIVATE KEY"
    let pem = "-----BEGIN \(label)-----\n\(String(decoding: der, as: UTF8.self))\n-----END \(label)-----\n"
    try await Self.run("client_credentials", authentication: "private_key_jwt") { request, issuer in
      let form = request.form
      guard form["grant_type"] == "client_credentials" else { return Self.refusal("unsupported_grant_type") }
      guard form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        Self.isClient("conformance-test-client", form["client_assertion"] ?? "", key.publicKey, issuer)
      else { return FakeProvider.Reply(401, #"{"error":"invalid_client"}"#) }
      return FakeProvider.Reply(200, #"{"access_token":"cc-token","token_type":"Bearer","expires_in":3600}"#)
    } _: { server in
      let profile =
        "work: { provider: 'oidc', issuer: '\(server.issuer)', clientId: 'conformance-test-client', "
        + "privateKey: { file: '/run/key.pem' }, grant: 'clientCredentials', resource: '\(Self.resource)' }"
      try await Self.withProviders(profile, Self.finder(pem)) { providers in
        let provider = try #require(providers.first)
        let tokens = try await provider.tokens(for: TokenTarget(), showing: [], boundTo: nil)
        #expect(tokens.accessToken == BoundToken(try secret("cc-token")))
        let request = try #require(server.requests(at: "/token").first)
        #expect(request.form["resource"] == Self.resource && request.fields["authorization"] == nil)
        #expect(request.form["client_secret"] == nil)
      }
    }
  }

  /// Whether an assertion is a client's own for an issuer.
  private static func isClient(
    _ name: String, _ assertion: String, _ key: VerificationKey, _ issuer: String
  ) -> Bool {
    guard let token = try? Secret(utf8: assertion) else { return false }
    let header = Array(assertion.utf8.prefix { $0 != UInt8(ascii: ".") })
    let isSigned = try? CompactJWS.isSigned(token, header: header) { signature, message throws(KeyFault) in
      try key.isValid(signature: signature, for: message)
    }
    let isOwn = UnverifiedToken.claims(of: token) { claims in
      claims.text("iss") == name && claims.text("sub") == name && claims.audiences == [issuer]
    }
    return isSigned == true && isOwn == true
  }

  // MARK: Enterprise-managed authorization

  @Test func `enterprise-managed-authorization`() async throws {
    let type = "urn:ietf:params:oauth:token-type:"
    let user = idToken(#"{"sub":"demo-user@example.com","aud":"conformance-test-idp-client"}"#)
    /// The assertion of the user's own provider, for the audience and the resource that were asked for.
    let assertion: @Sendable (_ audience: String, _ resource: String) -> String = { audience, resource in
      idToken(
        #"{"aud":"\#(audience)","resource":"\#(resource)","client_id":"conformance-test-xaa-client","exp":4000000000}"#,
        header: #"{"alg":"ES256","typ":"oauth-id-jag+jwt"}"#)
    }
    try await Self.run(
      "urn:ietf:params:oauth:grant-type:token-exchange", authentication: "none"
    ) { request, _ in
      let form = request.form
      guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange",
        form["subject_token"] == user, form["subject_token_type"] == type + "id_token",
        form["requested_token_type"] == type + "id-jag", let audience = form["audience"],
        let resource = form["resource"]
      else { return Self.refusal("invalid_request") }
      return FakeProvider.Reply(
        200,
        #"{"access_token":"\#(assertion(audience, resource))","issued_token_type":"\#(type)id-jag","token_type":"N_A"}"#
      )
    } _: { idp in
      try await Self.run(Self.bearer, authentication: "client_secret_basic") { request, issuer in
        // conformance-test-xaa-client:conformance-test-xaa-secret
        guard
          request.fields["authorization"]
            == "Basic Y29uZm9ybWFuY2UtdGVzdC14YWEtY2xpZW50OmNvbmZvcm1hbmNlLXRlc3QteGFhLXNlY3JldA=="
        else { return FakeProvider.Reply(401, #"{"error":"invalid_client"}"#) }
        guard request.form["grant_type"] == Self.bearer else { return Self.refusal("unsupported_grant_type") }
        guard request.form["assertion"] == assertion(issuer, Self.resource) else {
          return Self.refusal("invalid_grant")
        }
        return FakeProvider.Reply(200, #"{"access_token":"test-token","token_type":"Bearer","expires_in":3600}"#)
      } _: { server in
        let own = "provider: 'oidc', issuer: '\(idp.issuer)', clientId: 'conformance-test-idp-client'"
        let profiles = """
          sso: { \(own) },
          jag: { \(own), grant: 'exchange', subjectToken: { from: 'sso' }, subjectTokenType: '\(type)id_token',
                 requestedTokenType: '\(type)id-jag', audience: '\(server.issuer)', resource: '\(Self.resource)' },
          work: { provider: 'oidc', issuer: '\(server.issuer)', clientId: 'conformance-test-xaa-client',
                  clientSecret: { env: 'S' }, grant: 'jwtBearer', assertion: { from: 'jag' } }
          """
        try await Self.withProviders(profiles, Self.finder("conformance-test-xaa-secret")) { providers in
          let (jag, work) = (providers[1], providers[2])
          #expect(jag.subjects.map(\.profile) == [ProfileName("sso")] && jag.subjects.first?.isIDToken == true)
          #expect(work.subjects.map(\.profile) == [ProfileName("jag")])
          let grant = try await jag.tokens(
            for: TokenTarget(), showing: [SubjectToken(try secret(user), end: nil)])
          #expect(grant.accessToken.kind == .subject, "no client is given it")
          let tokens = try await work.tokens(
            for: TokenTarget(), showing: [SubjectToken(grant.accessToken.value, end: grant.accessTokenExpiresAt)])
          #expect(tokens.accessToken == BoundToken(try secret("test-token")))
          #expect(idp.requests(at: "/token").count == 1 && server.requests(at: "/token").count == 1)
        }
      }
    }
  }

  // MARK: Workload identity federation

  struct Workload: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The audience of the platform's assertion; nil: the server.
    var audience: String?
    var expiry = 4_000_000_000
    var scope = "mcp:read"
    /// The failure that a caller sees; nil for a token.
    var failure: ErrorKind?
    var requestCount = 1
  }

  static let workloads = [
    Workload(testDescription: "wif-jwt-bearer"),
    Workload(testDescription: "wif-assertion-audience", audience: "https://wrong.example", failure: .providerRejected),
    Workload(testDescription: "wif-assertion-expired", expiry: 1, failure: .missingCredential, requestCount: 0),
    Workload(testDescription: "wif-scope-rejected", scope: "rejected", failure: .providerRejected),
    Workload(testDescription: "wif-grant-fallback", scope: "unauthorized", failure: .providerRejected),
  ]

  @Test(arguments: workloads)
  func `a workload shows its platform's assertion, once, and by no other grant`(_ row: Workload) async throws {
    try await Self.run(Self.bearer, authentication: "none") { request, issuer in
      let form = request.form
      guard form["grant_type"] == Self.bearer else { return Self.refusal("unsupported_grant_type") }
      guard form["assertion"] == Self.assertion(row, issuer), row.audience == nil else {
        return Self.refusal("invalid_grant")
      }
      switch form["scope"] {
      case "unauthorized": return Self.refusal("unauthorized_client")
      case "rejected": return Self.refusal("invalid_scope")
      default: return FakeProvider.Reply(200, #"{"access_token":"test-token","token_type":"Bearer"}"#)
      }
    } _: { server in
      let profile =
        "work: { provider: 'oidc', issuer: '\(server.issuer)', clientId: 'conformance-wif-workload', grant: 'jwtBearer', "
        + "assertion: { file: '/run/token' }, scopes: ['\(row.scope)'], resource: '\(Self.resource)' }"
      try await Self.withProviders(profile, Self.finder(Self.assertion(row, server.issuer))) { providers in
        let provider = try #require(providers.first)
        let refusal = await failure { () throws(ProviderFailure) in
          try await provider.tokens(for: TokenTarget(), showing: [], boundTo: nil)
        }
        #expect(refusal?.kind == row.failure)
        let requests = server.requests(at: "/token")
        #expect(requests.count == row.requestCount)
        for request in requests {
          #expect(request.form["resource"] == Self.resource && request.fields["authorization"] == nil)
          #expect(request.form["client_id"] == "conformance-wif-workload" && request.form["client_assertion"] == nil)
        }
      }
    }
  }

  private static func assertion(_ row: Workload, _ issuer: String) -> String {
    idToken(
      #"{"iss":"https://idp.example","sub":"workload","aud":"\#(row.audience ?? issuer)","exp":\#(row.expiry)}"#)
  }
}
