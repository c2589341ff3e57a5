import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import ProviderKit
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import OIDCProvider

/// Tokens without a login: what is sent for them, and what is made of the answers.
@Suite(.standardTimeLimit) struct MachineGrantTests {
  private static let tokens = FakeProvider.Reply(
    200, #"{"access_token":"at","token_type":"Bearer","expires_in":3600,"refresh_token":"rt"}"#)
  private static let other = ProfileName("other") ?? .default
  private static let subject = TokenSource.profile(other, isIDToken: false)

  private func run(
    _ grant: MachineGrant, reply: FakeProvider.Reply = tokens, assertion: String = "",
    _ change: (inout OIDCDialect) -> Void = { _ in }, _ body: (OIDCProvider, FakeProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run(always: reply) { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer, scopes: ["a", "b"], methods: [])
      dialect.usesDiscovery = false
      dialect.endpoints = [.token: server.issuer + "/token", .revocation: server.issuer + "/revoke"]
      dialect.grant = grant
      change(&dialect)
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let result: Result<Void, any Error>
      do {
        let configuration = OIDCProfileConfiguration(dialect: dialect, clientID: "cli")
        let provider = try OIDCProvider(configuration, client: client) { _ in
          Result { try Secret(utf8: assertion) }.mapError { _ in .transient(.overloaded) }
        }
        result = .success(try await body(provider, server))
      } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  private func subjects(_ texts: [String], end: Timestamp? = nil) throws -> [SubjectToken] {
    try texts.map { SubjectToken(try secret($0), end: end) }
  }

  @Test func `an exchange has all its members`() async throws {
    let exchange = TokenExchange(
      subject: Self.subject, subjectType: TokenExchange.TokenType.idToken, actor: .profile(.default, isIDToken: false),
      requestedType: "urn:ietf:params:oauth:token-type:id-jag")
    try await run(.exchange(exchange)) { dialect in
      dialect.audience = "https://as.example.com"
      dialect.resource = "https://api.example.com"
    } _: { provider, server in
      #expect(provider.subjects.map(\.profile) == [Self.other, .default])
      let tokens = try await provider.tokens(for: TokenTarget(), showing: try subjects(["s", "act"]))
      #expect(
        server.requests.first?.form == [
          "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": "s",
          "subject_token_type": "urn:ietf:params:oauth:token-type:id_token", "actor_token": "act",
          "actor_token_type": "urn:ietf:params:oauth:token-type:access_token",
          "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag", "audience": "https://as.example.com",
          "resource": "https://api.example.com", "scope": "a b", "client_id": "cli",
        ])
      #expect(ClientGrant(tokens.refreshToken) != nil, "nothing is kept that a server has issued to refresh with")
      _ = try await provider.tokens(
        for: TokenTarget(scopes: ["c"], audience: "urn:x"), showing: try subjects(["s", "act"]))
      let narrow = server.requests[1].form
      #expect(narrow["scope"] == "c" && narrow["resource"] == "urn:x" && narrow["audience"] == nil)
      try await provider.revoke(tokens, everywhere: false)
      #expect(server.requests.last?.form["token"] == "at" && server.requests.count == 3)
    }
  }

  private static let file = TokenSource.assertion(.reference(SecretReference("assertion", .file("/t"), .assertion)))

  @Test func `an assertion of a file or of another profile`() async throws {
    let jwt = idToken(#"{"exp":4000000000}"#)
    try await run(.jwtBearer(Self.file), assertion: jwt) { provider, server in
      #expect(provider.subjects.isEmpty)
      _ = try await provider.tokens(for: TokenTarget(), showing: [], boundTo: nil)
      #expect(
        server.requests.first?.form == [
          "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": jwt, "scope": "a b",
          "client_id": "cli",
        ])
    }
    try await run(.jwtBearer(Self.subject)) { provider, server in
      _ = try await provider.tokens(for: TokenTarget(), showing: try subjects(["jag"]))
      #expect(server.requests.first?.form["assertion"] == "jag")
    }
    try await run(.jwtBearer(Self.file), assertion: idToken(#"{"exp":1}"#)) {
      provider, server in
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.tokens(for: TokenTarget(), showing: [], boundTo: nil)
      }
      #expect(refusal?.kind == .missingCredential && server.requests.isEmpty)
      guard case .credentialMissing(let credential)? = refusal else { return }
      #expect(credential.subject == "assertion in the file /t")
    }
  }

  @Test func `no token outlives what it was issued for`() async throws {
    let end = Timestamp(milliseconds: 1_900_000_000_000)
    try await run(.exchange(TokenExchange(subject: Self.subject))) { provider, _ in
      let soon = Timestamp(milliseconds: 1_700_000_000_000)
      let capped = try await provider.tokens(for: TokenTarget(), showing: try subjects(["s"], end: soon))
      #expect(capped.accessTokenExpiresAt == soon)
      let own = try await provider.tokens(for: TokenTarget(), showing: try subjects(["s"], end: end))
      #expect((own.accessTokenExpiresAt ?? end) < end)
    }
    let endless = FakeProvider.Reply(200, #"{"access_token":"at","token_type":"Bearer"}"#)
    try await run(.exchange(TokenExchange(subject: Self.subject)), reply: endless) { provider, _ in
      let tokens = try await provider.tokens(for: TokenTarget(), showing: try subjects(["s"], end: end))
      #expect(tokens.accessTokenExpiresAt == end)
    }
    try await run(.jwtBearer(Self.subject), reply: endless) { provider, _ in
      let tokens = try await provider.tokens(for: TokenTarget(), showing: try subjects(["s"], end: end))
      #expect(tokens.accessTokenExpiresAt == nil, "an assertion is used up")
    }
  }

  @Test(arguments: ["N_A", "n_a"])
  func `a token of no type is only a subject, and only of an exchange`(_ type: String) async throws {
    let reply = FakeProvider.Reply(
      200,
      #"{"access_token":"jag","token_type":"\#(type)","expires_in":300,"issued_token_type":"urn:ietf:params:oauth:token-type:id-jag"}"#
    )
    try await run(.exchange(TokenExchange(subject: Self.subject)), reply: reply) { provider, _ in
      let tokens = try await provider.tokens(for: TokenTarget(), showing: try subjects(["s"]))
      #expect(tokens.accessToken.kind == .subject)
    }
    try await run(.jwtBearer(Self.subject), reply: reply) { provider, _ in
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.tokens(for: TokenTarget(), showing: (try? subjects(["s"])) ?? [])
      }
      #expect(refusal?.kind == .invalidResponse)
    }
  }

  @Test(arguments: [
    (400, #"{"error":"invalid_grant"}"#, ErrorKind.providerRejected),
    (400, #"{"error":"invalid_target"}"#, .providerRejected), (401, #"{"error":"invalid_client"}"#, .providerRejected),
    (400, #"{"error":"unsupported_grant_type"}"#, .providerRejected), (503, "", .providerUnavailable),
  ])
  func `no refusal ends the session, and none is repeated`(
    _ status: Int, _ body: String, _ kind: ErrorKind
  ) async throws {
    for grant in [MachineGrant.exchange(TokenExchange(subject: Self.subject)), .jwtBearer(Self.subject)] {
      try await run(grant, reply: FakeProvider.Reply(status, body)) { provider, server in
        let refusal = await failure { () throws(ProviderFailure) in
          try await provider.tokens(for: TokenTarget(), showing: (try? subjects(["s"])) ?? [])
        }
        #expect(refusal?.kind == kind && server.requests.count == 1)
        if case .sessionEnded? = refusal { Issue.record("the session would end") }
      }
    }
  }

  @Test func `sessions of another grant, subject or audience are others`() async throws {
    var bindings: Set<String> = []
    let grants: [MachineGrant] = [
      .clientCredentials, .jwtBearer(Self.subject), .exchange(TokenExchange(subject: Self.subject)),
      .exchange(TokenExchange(subject: .profile(Self.other, isIDToken: true))),
      .exchange(TokenExchange(subject: .profile(.default, isIDToken: false))),
    ]
    for grant in grants {
      for audience in [nil, "x"] {
        var dialect = OIDCDialect(type: "oidc", issuer: "https://op.example.com")
        (dialect.grant, dialect.audience) = (grant, audience)
        let binding = try OIDCProvider.binding(OIDCProfileConfiguration(dialect: dialect, clientID: "c"))
        bindings.insert(binding.issuer)
      }
    }
    #expect(bindings.count == 2 * grants.count)
  }
}
