import BrokerCore
import BrokerProtocol
import JSON
import Sealing
import SecretMemory
import TestSupport
import Testing
import TextCoding

@testable import LocalProvider

/// Tokens for more than one audience from one session.
@Suite(.standardTimeLimit) struct AudienceTests {
  private static let orders = "https://orders.example.com"
  private static let configured: @Sendable (inout LocalProviderConfiguration) -> Void = {
    $0.issuer = "https://id.example.com"
    $0.audience = "https://api.example.com"
    $0.audiences = [orders]
  }

  /// Asks with a session's refresh token.
  private func ask(
    _ fixture: ProviderFixture, _ audience: String, _ tokens: TokenSet, _ scopes: [String] = []
  ) async throws -> TokenSet {
    try await fixture.provider.accessToken(
      for: TokenTarget(scopes: scopes, audience: audience), refreshToken: try #require(tokens.refreshToken))
  }

  private func session(_ fixture: ProviderFixture, _ scopes: [String]) async throws -> TokenSet {
    _ = try await fixture.session()
    var credentials = try fixture.credentials()
    credentials.scopes = scopes
    return try await fixture.provider.login(credentials).session.tokens
  }

  private func claims(_ tokens: TokenSet) throws -> JSONNode {
    let text = try #require(tokens.accessToken.value.revealedString())
    let payload = Array(text.utf8.split(separator: UInt8(ascii: "."))[1])
    let bytes = Base64.decodeURLForm(payload.span)
    return try JSONDocument(parsing: #require(bytes)).root
  }

  @Test func `a session's own token and another one name issuer and audience as configured`() async throws {
    try await ProviderFixture.run(Self.configured) { fixture in
      let own = try await session(fixture, ["read", "write"])
      let other = try await ask(fixture, Self.orders, own)
      let narrow = try await ask(fixture, Self.orders, other, ["read"])
      let audiences = ["https://api.example.com", Self.orders, Self.orders]
      for (tokens, audience) in zip([own, other, narrow], audiences) {
        let claims = try claims(tokens)
        #expect(try claims.required("iss").string() == "https://id.example.com")
        #expect(try claims.required("aud").string() == audience)
        let told = try await fixture.provider.introspect(tokens.accessToken.value)
        #expect(told.isActive && told.issuer == "https://id.example.com" && told.audience == audience)
        #expect(told.scope == (tokens == narrow ? "read" : "read write"))
        #expect(try claims.required("sid").string() == told.session)
      }
      #expect(narrow.scopes == ["read"] && other.scopes == ["read", "write"])
      let refresh = try await fixture.provider.introspect(try #require(narrow.refreshToken?.value))
      #expect(refresh.isActive && refresh.issuer == "https://id.example.com" && refresh.audience == nil)
    }
  }

  @Test func `a token for another audience spends the refresh token as a refresh does`() async throws {
    try await ProviderFixture.run(Self.configured) { fixture in
      let own = try await session(fixture, [])
      let other = try await ask(fixture, Self.orders, own)
      #expect(other.refreshToken != nil && other.refreshToken != own.refreshToken)
      #expect(other.refreshTokenExpiresAt == own.refreshTokenExpiresAt)
      let next = try await fixture.provider.refresh(try #require(other.refreshToken))
      #expect(try claims(next).required("aud").string() == "https://api.example.com")
      let replay = await failure { () throws(ProviderFailure) in
        try await fixture.provider.accessToken(
          for: TokenTarget(audience: Self.orders), refreshToken: try present(own.refreshToken))
      }
      #expect(replay == .sessionEnded(.refreshRejected, alert: .refreshTokenReuse))
    }
  }

  private func present(_ token: BoundToken?) throws(ProviderFailure) -> BoundToken {
    guard let token else { throw .unsupported }
    return token
  }

  @Test(arguments: [
    ("https://other.example.com", []), (orders, ["admin"]), (orders, ["read", "admin"]), (orders + "/", ["read"]),
  ])
  func `what the session may not have spends nothing`(_ audience: String, _ scopes: [String]) async throws {
    try await ProviderFixture.run(Self.configured) { fixture in
      let own = try await session(fixture, ["read"])
      let refused = await failure { () throws(ProviderFailure) in
        try await fixture.provider.accessToken(
          for: TokenTarget(scopes: scopes, audience: audience), refreshToken: try present(own.refreshToken))
      }
      #expect(refused == .refused(.insufficientScope))
      _ = try await fixture.provider.refresh(try #require(own.refreshToken))
    }
  }

  @Test func `there may be tokens for the audiences that are configured, until a reload says otherwise`() async throws {
    try await ProviderFixture.run { fixture in
      let provider = fixture.provider
      let other = TokenTarget(audience: Self.orders)
      #expect(!provider.canGive(other) && !provider.canGive(TokenTarget(scopes: ["a"])))
      #expect(provider.canGive(TokenTarget(audience: "authbroker")))
      var configuration = fixture.configuration
      Self.configured(&configuration)
      await provider.update(configuration)
      #expect(provider.canGive(other) && provider.capabilities.targets != nil)
      #expect(!provider.canGive(TokenTarget(scopes: ["a"])))
      await provider.update(fixture.configuration)
      #expect(!provider.canGive(other))
    }
  }

  @Test func `a token that another service is given is none for the account`() async throws {
    try await ProviderFixture.run(Self.configured) { fixture in
      let own = try await session(fixture, [])
      #expect(try await fixture.provider.currentUser(accessToken: own.accessToken).email == "a@example.com")
      let other = try await ask(fixture, Self.orders, own)
      let refused = await failure { () throws(ProviderFailure) in
        try await fixture.provider.currentUser(accessToken: other.accessToken)
      }
      #expect(refused == .tokenRefused)
      // It says whose it is all the same, where the session is to end.
      let alone = TokenSet(accessToken: other.accessToken.value, accessTokenExpiresAt: nil, refreshToken: nil)
      try await fixture.provider.revoke(alone, everywhere: false)
      #expect(try await !fixture.provider.introspect(own.accessToken.value).isActive)
    }
  }

  @Test func `another issuer or audience holds from the next token on`() async throws {
    try await ProviderFixture.run { fixture in
      let own = try await session(fixture, [])
      var configuration = fixture.configuration
      Self.configured(&configuration)
      await fixture.provider.update(configuration)
      let told = try await fixture.provider.introspect(own.accessToken.value)
      #expect(told.isActive && told.issuer == "authbroker-local" && told.audience == "authbroker")
      let refused = await failure { () throws(ProviderFailure) in
        try await fixture.provider.currentUser(accessToken: own.accessToken)
      }
      #expect(refused == .tokenRefused)
      let next = try await fixture.provider.refresh(try #require(own.refreshToken))
      #expect(try await fixture.provider.currentUser(accessToken: next.accessToken).email == "a@example.com")
    }
  }
}
