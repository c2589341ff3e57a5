import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// What the provider says of tokens (RFC 7662).
@Suite(.standardTimeLimit) struct IntrospectionTests {
  private static let inactive = TokenIntrospection(isActive: false)

  @Test func `a good access token is told with all that it says`() async throws {
    try await ProviderFixture.run { fixture in
      let user = try #require(try await fixture.session().user)
      var credentials = try fixture.credentials()
      credentials.scopes = ["read", "write"]
      let tokens = try await fixture.provider.login(credentials).session.tokens
      let now = Int(fixture.clock.now.milliseconds / 1000)
      fixture.clock.advance(.seconds(10))
      let told = try await fixture.provider.introspect(tokens.accessToken.value)
      #expect(told.isActive && told.subject == user.id && told.scope == "read write")
      #expect(told.issuedAt == now && told.expiresAt == now + 900 && told.authTime == now)
      #expect(told.tokenID?.isEmpty == false && told.session?.isEmpty == false && told.methods == ["pwd"])
      let other = try await fixture.provider.introspect(
        try await fixture.provider.refresh(try #require(tokens.refreshToken)).accessToken.value)
      #expect(other.session == told.session && other.tokenID != told.tokenID && other.issuedAt == now + 10)
    }
  }

  @Test func `a good refresh token is told with its session`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let now = Int(fixture.clock.now.milliseconds / 1000)
      let access = try await fixture.provider.introspect(session.tokens.accessToken.value)
      let told = try await fixture.provider.introspect(try #require(session.tokens.refreshToken?.value))
      #expect(told.isActive && told.subject == session.user?.id && told.session == access.session)
      #expect(told.issuedAt == now && told.expiresAt == now + 2_592_000 && told.tokenID == nil && told.scope == nil)
      #expect(told.authTime == now && told.methods == ["pwd"])
    }
  }

  @Test func `of a token that is not good nothing else is told`() async throws {
    try await ProviderFixture.run { fixture in
      let provider = fixture.provider
      let first = try await fixture.session().tokens
      let second = try await provider.refresh(try #require(first.refreshToken))
      // Spent.
      #expect(try await provider.introspect(try #require(first.refreshToken?.value)) == Self.inactive)
      #expect(try await provider.introspect(first.accessToken.value).isActive)
      // Expired.
      fixture.clock.advance(.seconds(900))
      #expect(try await provider.introspect(second.accessToken.value) == Self.inactive)
      #expect(try await provider.introspect(try #require(second.refreshToken?.value)).isActive)
      // Revoked.
      let third = try await provider.refresh(try #require(second.refreshToken))
      try await provider.revoke(third, everywhere: false)
      #expect(try await provider.introspect(third.accessToken.value) == Self.inactive)
      #expect(try await provider.introspect(try #require(third.refreshToken?.value)) == Self.inactive)
      // Unknown.
      for text in ["", "x", "a.b.c", "eyJ9.e30.AA"] {
        #expect(try await provider.introspect(try Secret(utf8: text)) == Self.inactive)
      }
    }
  }

  @Test func `a refresh token that was not used for too long is not good`() async throws {
    let idle: (inout LocalProviderConfiguration) -> Void = { $0.refreshTokenIdleLifetime = .seconds(1000) }
    try await ProviderFixture.run(idle) { fixture in
      let token = try #require(try await fixture.session().tokens.refreshToken?.value)
      fixture.clock.advance(.seconds(999))
      #expect(try await fixture.provider.introspect(token).isActive)
      fixture.clock.advance(.seconds(1))
      #expect(try await fixture.provider.introspect(token) == Self.inactive)
    }
  }
}
