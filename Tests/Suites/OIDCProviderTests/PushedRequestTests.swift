import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Browser logins whose parameters are pushed to the provider (RFC 9126).
@Suite(.standardTimeLimit) struct PushedRequestTests {
  private static func metadata(_ issuer: String, isRequired: Bool) -> String {
    let end = #","pushed_authorization_request_endpoint":"\#(issuer)/par""#
    return end + (isRequired ? #","require_pushed_authorization_requests":true"# : "")
  }

  /// Runs a test with a provider that takes pushed requests.
  private func run(
    isRequired: Bool, hasEndpoint: Bool = true, isWanted: Bool = false, secret: String? = nil,
    reply: FakeProvider.Reply = FakeProvider.Reply(201, #"{"request_uri":"urn:r:1&x","expires_in":90}"#),
    _ body: (OIDCProvider, FakeProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      case "/.well-known/openid-configuration":
        let more =
          hasEndpoint
          ? Self.metadata(issuer, isRequired: isRequired)
          : isRequired ? #","require_pushed_authorization_requests":true"# : ""
        return FakeProvider.Reply(200, document(issuer, more))
      case "/par": return reply
      default: return .notFound
      }
    } _: { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      dialect.pushesAuthorization = isWanted
      dialect.parameters.authorization = [.init("organization", "o")]
      dialect.parameters.token = [.init("not", "here")]
      try await withProvider(dialect, clientSecret: secret, authentication: secret == nil ? .none : .basic) {
        try await body($0, server)
      }
    }
  }

  @Test(arguments: [(true, false), (false, true), (true, true)], ["made-up", nil])
  func `the browser gets a reference alone`(_ flags: (isRequired: Bool, isWanted: Bool), _ secret: String?) async throws
  {
    try await run(isRequired: flags.isRequired, isWanted: flags.isWanted, secret: secret) { provider, server in
      let action = try #require(
        try await provider.login(Credentials(method: .browser, email: "ann@example.com")).action)
      #expect(action.verificationURI == server.issuer + "/authorize?client_id=cli&request_uri=urn%3Ar%3A1%26x")
      let pushed = try #require(server.requests(at: "/par").first)
      #expect(pushed.method == "POST" && (pushed.fields["authorization"] != nil) == (secret != nil))
      let names: Set = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
        "nonce", "login_hint", "organization",
      ]
      #expect(Set(pushed.form.keys) == names)
      #expect(pushed.body.components(of: "client_id=") == 1)
      #expect(pushed.form["client_id"] == "cli" && pushed.form["organization"] == "o")
    }
  }

  @Test func `where nothing wants it, nothing is pushed`() async throws {
    try await run(isRequired: false) { provider, server in
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      #expect(action.verificationURI.contains("state=") && server.requests(at: "/par").isEmpty)
    }
  }

  @Test(arguments: [
    (FakeProvider.Reply(400, #"{"error":"invalid_request"}"#), ErrorKind.providerRejected),
    (FakeProvider.Reply(401, #"{"error":"invalid_client"}"#), .providerRejected),
    (FakeProvider.Reply(201, "{}"), .invalidResponse),
    (FakeProvider.Reply(201, #"{"request_uri":""}"#), .invalidResponse),
    (FakeProvider.Reply(503, ""), .providerUnavailable),
  ])
  func `what is refused begins no login`(_ reply: FakeProvider.Reply, _ kind: ErrorKind) async throws {
    try await run(isRequired: true, reply: reply) { provider, server in
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.login(Credentials(method: .browser))
      }
      #expect(refusal?.kind == kind)
      #expect(server.requests(at: "/par").count == 1)
    }
  }

  @Test func `without an endpoint it cannot be`() async throws {
    for isWanted in [true, false] {
      try await run(isRequired: !isWanted, hasEndpoint: false, isWanted: isWanted) { provider, _ in
        let refusal = await failure { () throws(ProviderFailure) in
          try await provider.login(Credentials(method: .browser))
        }
        #expect(refusal == .unsupported)
      }
    }
  }
}

extension String {
  /// How often a text occurs.
  fileprivate func components(of text: String) -> Int {
    split(separator: text, omittingEmptySubsequences: false).count - 1
  }
}
