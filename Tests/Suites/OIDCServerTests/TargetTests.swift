import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Tokens for other scopes, or another audience, than the session's own, at a real OpenID Connect server.
@Suite(.standardTimeLimit) struct TargetTests {
  @Test(arguments: [["--set", "rotation=true"], ["--set", "rotation=false"]])
  func `a token for fewer scopes has no more, the session survives it, and its end ends all`(
    _ options: [String]
  ) async throws {
    try await Party.run(options) { party in
      let provider = try party.provider()
      let session = try #require(try await provider.login(.alice()).session)
      let first = try #require(session.tokens.refreshToken)
      let narrow = try await provider.accessToken(for: TokenTarget(scopes: ["openid", "read"]), refreshToken: first)
      #expect(narrow.scopes.sorted() == ["openid", "read"])
      #expect(try await party.ledger("token", "scope").last == "openid read")
      // What the server tells of the user goes by the scopes of the token.
      let few = try await provider.currentUser(accessToken: narrow.accessToken)
      #expect(few.email == nil && few.id == session.user?.id)
      let second = narrow.refreshToken ?? first
      #expect((second != first) == options.contains("rotation=true"))
      let refreshed = try await provider.refresh(second)
      // Against RFC 6749, section 6, this server takes the last token's scopes for those of the session.
      #expect(refreshed.scopes.sorted() == ["openid", "read"])
      let last = refreshed.refreshToken ?? second
      var ended = refreshed
      ended.refreshToken = last
      try await provider.revoke(ended, everywhere: false)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(last) }
          == .sessionEnded(.refreshRejected))
      for token in [session.tokens, narrow, refreshed] {
        #expect(
          await failure { () throws(ProviderFailure) in
            try await provider.currentUser(accessToken: token.accessToken)
          } == .tokenRefused)
      }
    }
  }

  @Test func `scopes that the session has not are refused, and the refresh token is as good as before`() async throws {
    try await Party.run { party in
      let provider = try party.provider()
      let token = try #require(try await provider.login(.alice()).session?.tokens.refreshToken)
      for scopes in [["write"], ["unheard-of"]] {
        #expect(
          await failure { () throws(ProviderFailure) in
            try await provider.accessToken(for: TokenTarget(scopes: scopes), refreshToken: token)
          } == .refused(.insufficientScope))
      }
      #expect(try await provider.refresh(token).refreshToken != nil)
      #expect(try await party.ledger("token", "error").contains("invalid_scope"))
    }
  }

  @Test func `a token for an audience is good there and nowhere else`() async throws {
    try await Party.run { party in
      let provider = try party.provider()
      let session = try #require(try await provider.login(.alice()).session)
      let token = try #require(session.tokens.refreshToken)
      let target = TokenTarget(audience: "https://orders.example.com")
      let other = try await provider.accessToken(for: target, refreshToken: token)
      #expect(other.scopes.sorted() == session.tokens.scopes.sorted() && other.refreshToken != token)
      let names = try #require(try await party.ledger("token").last?["bodyNames"])
      #expect(try names.elements().map { try $0.string() }.contains("resource"))
      // The server's own addresses are no orders.
      #expect(
        await failure { () throws(ProviderFailure) in
          try await provider.currentUser(accessToken: other.accessToken)
        } == .tokenRefused)
      // This server lets a session stay with one audience, and says so in JSON that is labelled as a page for people.
      let next = try #require(other.refreshToken)
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.accessToken(for: TokenTarget(audience: "https://mail.example.com"), refreshToken: next)
      }
      #expect(refusal == .refused(.insufficientScope))
      #expect(try await party.ledger("token", "error").last == "invalid_target")
      #expect(try await provider.refresh(next).refreshToken != nil, "a refused target ends no session")
    }
  }
}
