import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import ProviderKit
import SecretMemory
import Synchronization
import TestServers
import TestSupport
import Testing

@testable import OIDCProvider

/// Clients that show an assertion in place of a password (RFC 7521, section 4.2).
@Suite(.standardTimeLimit) struct ClientAssertionTests {
  private static let tokens = FakeProvider.Reply(200, #"{"access_token":"at","expires_in":60,"refresh_token":"rt2"}"#)
  private static let bearerType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
  private static let file = SecretReference("clientAssertion", .file("/run/token"), .assertion)

  /// What is at the source of an assertion, which a test replaces.
  private final class Source: Sendable {
    private let text: Mutex<String>
    init(_ text: String) { self.text = Mutex(text) }
    func set(_ new: String) { text.withLock { $0 = new } }
    var finder: SecretFinder {
      { reference in
        guard reference == ClientAssertionTests.file else { return .failure(.unsupported) }
        return Result { try Secret(utf8: self.text.withLock { $0 }) }.mapError { _ in .transient(.overloaded) }
      }
    }
  }

  private static func token(exp: Int64) -> String { idToken(#"{"iss":"https://k8s","exp":\#(exp)}"#) }

  /// Runs a test with a provider whose client shows assertions.
  private func run(
    _ assertion: ClientAssertion, _ secrets: @escaping SecretFinder, reply: FakeProvider.Reply = tokens,
    _ body: (OIDCProvider, FakeProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run(always: reply) { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer, scopes: ["a"])
      dialect.usesDiscovery = false
      dialect.endpoints = [
        .token: server.issuer + "/token", .revocation: server.issuer + "/revoke",
        .deviceAuthorization: server.issuer + "/device",
      ]
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let configuration = OIDCProfileConfiguration(
        dialect: dialect, clientID: "cli", clientAssertion: assertion, clientAuthentication: .assertion)
      let result: Result<Void, any Error>
      do {
        let provider = try OIDCProvider(configuration, client: client, secrets: secrets)
        result = .success(try await body(provider, server))
      } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  @Test(arguments: AssertionType.allCases)
  func `each request has the assertion of its moment, and no password`(_ type: AssertionType) async throws {
    let source = Source(Self.token(exp: 4_000_000_000))
    try await run(.issued(.reference(Self.file), type), source.finder) { provider, server in
      let session = try #require(try await provider.login(Credentials(method: .clientCredentials)).session)
      source.set("second")
      _ = try await provider.refresh(BoundToken(Self.refreshToken))
      source.set("third")
      try await provider.revoke(session.tokens, everywhere: false)
      let forms = server.requests.map(\.form)
      #expect(forms.map { $0["client_assertion"] } == [Self.token(exp: 4_000_000_000), "second", "third"])
      for request in server.requests {
        #expect(request.form["client_assertion_type"] == type.rawValue && request.form["client_id"] == "cli")
        #expect(request.fields["authorization"] == nil && request.form["client_secret"] == nil)
      }
    }
  }

  @Test(arguments: ["", idToken(#"{"exp":1000000000}"#)])
  func `an assertion that is empty or has expired is not sent, and says so`(_ assertion: String) async throws {
    let source = Source(assertion)
    try await run(.issued(.reference(Self.file), .jwtBearer), source.finder) { provider, server in
      let refusals = [
        await failure { () throws(ProviderFailure) in try await provider.login(Credentials(method: .clientCredentials))
        },
        await failure { () throws(ProviderFailure) in try await provider.refresh(BoundToken(Self.refreshToken)) },
      ]
      for refusal in refusals {
        #expect(refusal?.kind == .missingCredential)
        guard case .credentialMissing(let credential)? = refusal else {
          Issue.record("another failure: \(String(describing: refusal))")
          continue
        }
        #expect(credential.subject == "clientAssertion in the file /run/token")
      }
      #expect(server.requests.isEmpty)
      source.set("now")
      _ = try await provider.refresh(BoundToken(Self.refreshToken))
      #expect(server.requests.count == 1)
    }
  }

  private static var refreshToken: Secret { (try? Secret(utf8: "rt1")) ?? .empty }

  @Test func `a job of GitHub Actions shows the token that it is given for the audience`() async throws {
    let jwt = Self.token(exp: 4_000_000_000)
    try await FakeProvider.run(always: FakeProvider.Reply(200, #"{"count":1,"value":"\#(jwt)"}"#)) { gitHub in
      let secrets: SecretFinder = { reference in
        let value =
          switch reference.place {
          case .environment("ACTIONS_ID_TOKEN_REQUEST_URL"): gitHub.issuer + "/token?api-version=2.0"
          case .environment("ACTIONS_ID_TOKEN_REQUEST_TOKEN"): "made-up"
          default: ""
          }
        return Result { try Secret(utf8: value) }.mapError { _ in .transient(.overloaded) }
      }
      try await run(
        .issued(.gitHubActions(audience: "https://sts.example.com/a b", key: "assertion"), .jwtBearer), secrets
      ) {
        provider, server in
        _ = try await provider.login(Credentials(method: .clientCredentials))
        #expect(server.requests.map { $0.form["client_assertion"] } == [jwt])
      }
      let request = try #require(gitHub.requests.first)
      #expect(request.method == "GET" && gitHub.requests.count == 1)
      #expect(request.path == "/token?api-version=2.0&audience=https%3A%2F%2Fsts.example.com%2Fa%20b")
      #expect(request.fields["authorization"] == "Bearer made-up")
    }
  }

  @Test(arguments: [
    (FakeProvider.Reply(403, "{}"), "403"), (FakeProvider.Reply(200, "{}"), "none"), (.lost, "answer"),
    (FakeProvider.Reply(200, #"{"value":"\#(idToken(#"{"exp":1}"#))"}"#), "expired"),
  ])
  func `without a token of GitHub nothing is sent`(_ reply: FakeProvider.Reply, _ word: String) async throws {
    try await FakeProvider.run(always: reply) { gitHub in
      let secrets: SecretFinder = { reference in
        let isAddress = reference.place == .environment("ACTIONS_ID_TOKEN_REQUEST_URL")
        return Result { try Secret(utf8: isAddress ? gitHub.issuer : "t") }.mapError { _ in .transient(.overloaded) }
      }
      try await run(.issued(.gitHubActions(audience: nil, key: "assertion"), .jwtBearer), secrets) { provider, server in
        let refusal = await failure { () throws(ProviderFailure) in
          try await provider.login(Credentials(method: .clientCredentials))
        }
        guard case .credentialMissing(let credential)? = refusal else {
          Issue.record("another failure: \(String(describing: refusal))")
          return
        }
        #expect(credential.subject == "assertion of GitHub Actions")
        #expect(credential.reason.contains(word), "\(credential.reason)")
        #expect(server.requests.isEmpty)
      }
    }
    try await run(.issued(.gitHubActions(audience: nil, key: "assertion"), .jwtBearer), noSecret) { provider, server in
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.refresh(BoundToken(Self.refreshToken))
      }
      #expect(refusal?.kind == .missingCredential && server.requests.isEmpty)
    }
  }
}
