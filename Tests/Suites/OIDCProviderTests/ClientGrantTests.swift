import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Sessions of a client itself: they have no refresh token, and are renewed all the same.
@Suite(.standardTimeLimit) struct ClientGrantTests {
  private static let tokens = FakeProvider.Reply(
    200, #"{"access_token":"at","expires_in":60,"refresh_token":"rt"}"#)

  @Test(arguments: [[], ["a"], ["a", "https://example.com/b"]])
  func `what is kept says what was asked for, and is no refresh token`(_ scopes: [String]) throws {
    let kept = try ClientGrant(scopes: scopes).kept()
    #expect(ClientGrant(kept)?.scopes == scopes)
    #expect(kept.value.withBytes { $0[0] } < 0x20)
    for token in ["client_credentials a", "", "rt", "\u{1}", "\u{1}client_credential"] {
      #expect(try ClientGrant(BoundToken(Secret(utf8: token))) == nil)
    }
    #expect(ClientGrant(nil) == nil)
  }

  @Test func `it asks as it did at the login, and a refresh token is neither kept nor sent`() async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      try await withClient(server) { provider in
        let session = try #require(try await provider.login(Credentials(method: .clientCredentials)).session)
        #expect(session.rotatesRefreshToken == false)
        let kept = try #require(session.tokens.refreshToken)
        #expect(provider.areClientsOwn(session.tokens))
        let again = try await provider.refresh(kept)
        #expect(again.refreshToken == nil && again.scopes == ["a"] && !provider.areClientsOwn(again))
        _ = try await provider.accessToken(for: TokenTarget(scopes: ["b"], audience: "urn:x"), refreshToken: kept)
        try await provider.revoke(session.tokens, everywhere: false)
      }
      #expect(
        server.requests.map(\.body) == [
          "grant_type=client_credentials&scope=a", "grant_type=client_credentials&scope=a",
          "grant_type=client_credentials&scope=b&resource=urn%3Ax", "token=at&token_type_hint=access_token",
        ])
    }
  }

  @Test(arguments: [
    (FakeProvider.Reply(401, #"{"error":"invalid_client"}"#), ProviderFailure.misconfigured(.client)),
    (FakeProvider.Reply(400, #"{"error":"invalid_grant"}"#), .refused(.invalidCredentials)),
    (FakeProvider.Reply(401, ""), .refused(.invalidCredentials)),
    (FakeProvider.Reply(400, #"{"error":"invalid_scope"}"#), .misconfigured(.scopes)),
    (FakeProvider.Reply(503, ""), .transient(.providerUnavailable)),
  ])
  func `no refusal ends its session`(_ reply: FakeProvider.Reply, _ expected: ProviderFailure) async throws {
    let kept = try ClientGrant(scopes: ["a"]).kept()
    try await FakeProvider.run(always: reply) { server in
      try await withClient(server) { provider in
        let refusal = await failure { () throws(ProviderFailure) in try await provider.refresh(kept) }
        #expect(refusal == expected)
        let narrow = await failure { () throws(ProviderFailure) in
          try await provider.accessToken(for: TokenTarget(scopes: ["b"]), refreshToken: kept)
        }
        #expect(narrow == (expected == .misconfigured(.scopes) ? .refused(.insufficientScope) : expected))
      }
    }
  }

  private func withClient(_ server: FakeProvider, _ body: (OIDCProvider) async throws -> Void) async throws {
    var dialect = OIDCDialect(type: "oidc", issuer: server.issuer, scopes: ["openid", "a", "offline_access"])
    dialect.usesDiscovery = false
    dialect.endpoints = [.token: server.issuer + "/token", .revocation: server.issuer + "/revoke"]
    try await withProvider(dialect, clientSecret: "s", authentication: .basic, body)
  }
}
