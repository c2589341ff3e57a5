import BrokerCore
import BrokerProtocol
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import OIDCProvider

/// Whose the tokens are that a refresh or a taken-over token brings, and since when a user has proved who they are.
@Suite(.standardTimeLimit) struct SessionUserTests {
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
      let tokens = try await provider.refresh(BoundToken(secret("rt1")))
      #expect(tokens.subject == "u1" && tokens.idToken != nil)
    }
  }

  @Test(arguments: [20_000, 60_000])
  func `tokens of sixty thousand bytes are tokens`(_ count: Int) async throws {
    let long = String(repeating: "t", count: count)
    let padding = String(repeating: "p", count: count * 3 / 4 - 200)
    try await withProvider { _, issuer in
      let claims = #"{"iss":"\#(issuer)","sub":"u1","aud":"cli","exp":9999999999,"pad":"\#(padding)"}"#
      return FakeProvider.Reply(
        200, #"{"access_token":"\#(long)","refresh_token":"r\#(long)","id_token":"\#(idToken(claims))"}"#)
    } _: { provider, _ in
      let tokens = try await provider.refresh(BoundToken(secret("rt1")))
      #expect(tokens.accessToken.value.byteCount == count && tokens.refreshToken?.value.byteCount == count + 1)
      #expect(tokens.subject == "u1")
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
      let refreshed = try await provider.refresh(BoundToken(secret("rt1")))
      #expect(
        try refreshed.subject == nil && refreshed.idToken == nil && refreshed.refreshToken?.value == secret("rt2"))
      let given = Credentials(method: .refreshToken, refreshToken: try secret("rt1"))
      let taken = try #require(try await provider.login(given).session)
      #expect(try taken.tokens.idToken == nil && taken.tokens.refreshToken?.value == secret("rt2"))
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

  @Test(
    arguments: [
      (#","auth_time":9999999999"#, nil), ("", nil), (#","auth_time":1000000000"#, .refused(.reauthRequired)),
    ] as [(String, ProviderFailure?)])
  func `a user who is to prove who they are is asked by the provider, and not believed for having done so before`(
    _ more: String, _ expected: ProviderFailure?
  ) async throws {
    let nonce = Mutex("")
    try await withProvider { request, issuer in
      guard request.path == "/token" else { return FakeProvider.Reply(200, "", []) }
      let claims =
        #"{"iss":"\#(issuer)","sub":"u1","aud":"cli","exp":9999999999,"nonce":"\#(nonce.withLock { $0 })"\#(more)}"#
      return FakeProvider.Reply(200, #"{"access_token":"at","refresh_token":"rt","id_token":"\#(idToken(claims))"}"#)
    } _: { provider, server in
      var credentials = Credentials(method: .browser)
      credentials.wantsFreshProof = true
      let action = try #require(try await provider.login(credentials).action)
      let visit = try BrowserVisit(action)
      #expect(visit.query["prompt"] == "login" && visit.query["max_age"] == "0")
      nonce.withLock { $0 = visit.query["nonce"] ?? "" }
      let waiting = Task {
        await failure { () throws(ProviderFailure) in try await provider.awaitRedirect(flow: action.flow) }
      }
      let page = try await visit.open("/callback?code=c&state=\(visit.state)")
      #expect(page.contains("You're logged in") == (expected == nil))
      #expect(await waiting.value == expected)
      // What nobody will use is given back.
      #expect(server.requests(at: "/revoke").count == (expected == nil ? 0 : 2))
    }
  }

  @Test func `a provider that cannot be made to ask proves nothing`() async throws {
    for dialect in [OIDCDialect.google, .github] {
      try await withProvider(dialect) { provider in
        var credentials = Credentials(method: .browser)
        credentials.wantsFreshProof = true
        let browser = credentials
        #expect(await failure { () throws(ProviderFailure) in try await provider.login(browser) } == .unsupported)
      }
    }
    try await withProvider(answer: twoTokens) { provider, _ in
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      #expect(try BrowserVisit(action).query["prompt"] == nil)
    }
  }
}
