import BrokerCore
import BrokerProtocol
import OIDCDialect
import SecretMemory
import Testing

@testable import OIDCProvider

/// Whose the tokens are that a refresh or a taken-over token brings.
struct SessionUserTests {
  private func withToken(
    _ claims: @escaping @Sendable (_ issuer: String) -> String, _ body: (OIDCProvider) async throws -> Void
  ) async throws {
    try await withProvider { request, issuer in
      switch request.path {
      case "/token":
        FakeProvider.Reply(
          200, #"{"access_token":"at","refresh_token":"rt2","id_token":"\#(idToken(claims(issuer)))"}"#)
      case "/userinfo": FakeProvider.Reply(200, #"{"sub":"u7","name":"Ann"}"#)
      default: .notFound
      }
    } _: { provider, _ in
      try await body(provider)
    }
  }

  @Test func `a refresh says whose its tokens are`() async throws {
    try await withToken {
      #"{"iss":"\#($0)","sub":"u1","aud":"cli","exp":9999999999}"#
    } _: { provider in
      let tokens = try await provider.refresh(secret("rt1"))
      #expect(tokens.subject == "u1" && tokens.idToken != nil)
    }
  }

  @Test(arguments: [
    #""iss":"https://evil.example","sub":"u1","aud":"cli","exp":9999999999"#,
    #""iss":"OWN","sub":"u1","aud":"other","exp":9999999999"#, #""iss":"OWN","sub":"u1","aud":"cli","exp":1"#,
    #""iss":"OWN","aud":"cli","exp":9999999999"#,
  ])
  func `an ID token that is not good says nothing, and nothing else is lost`(_ claims: String) async throws {
    try await withToken {
      "{" + claims.replacing("OWN", with: $0) + "}"
    } _: { provider in
      let refreshed = try await provider.refresh(secret("rt1"))
      #expect(try refreshed.subject == nil && refreshed.idToken == nil && refreshed.refreshToken == secret("rt2"))
      let given = Credentials(method: .refreshToken, refreshToken: try secret("rt1"))
      let taken = try #require(try await provider.login(given).session)
      #expect(try taken.tokens.idToken == nil && taken.tokens.refreshToken == secret("rt2"))
      #expect(taken.user == User(id: "u7", name: "Ann"), "the userinfo endpoint says whose they are")
    }
  }

  @Test func `a taken-over token's user is the good ID token's`() async throws {
    try await withToken {
      #"{"iss":"\#($0)","sub":"u1","aud":"cli","exp":9999999999}"#
    } _: { provider in
      let given = Credentials(method: .refreshToken, refreshToken: try secret("rt1"))
      let taken = try #require(try await provider.login(given).session)
      #expect(taken.user == User(id: "u1") && taken.tokens.idToken != nil)
    }
  }
}
