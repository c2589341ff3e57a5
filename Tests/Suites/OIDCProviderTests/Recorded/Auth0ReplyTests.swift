import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Auth0 (auth0.com/docs/api/authentication); its second factor is in `SecondFactorTests`.
@Suite(.standardTimeLimit) struct Auth0ReplyTests {
  private let dialect = OIDCDialect.auth0(domain: "acme.eu.auth0.com")

  private static let claims = """
    {"iss":"https://acme.eu.auth0.com/","sub":"auth0|5b4a-made-up","aud":"cli","iat":1800000000,"exp":9999999999,\
    "nickname":"ann","name":"ann@example.com","email":"ann@example.com","email_verified":true,\
    "updated_at":"2026-01-09T02:02:12.000Z"}
    """

  @Test func `a login with a password`() async throws {
    let reply = """
      {"access_token":"made-up-access","refresh_token":"GEbRxBN-made-up","id_token":"\(idToken(Self.claims))",\
      "scope":"openid profile email offline_access","expires_in":86400,"token_type":"Bearer"}
      """
    try await RecordedProvider.run(dialect) { _ in
      FakeProvider.Reply(200, reply)
    } _: { recorded in
      let session = try #require(try await recorded.provider.login(.ann()).session)
      #expect(
        session.user?.withoutClaims
          == User(
            id: "auth0|5b4a-made-up", email: "ann@example.com", emailVerified: true, name: "ann@example.com"))
      #expect(session.tokens.refreshToken != nil && session.tokens.scopes.contains("offline_access"))
    }
    for (status, body, expected) in [
      (
        403, #"{"error":"invalid_grant","error_description":"Wrong email or password."}"#, .refused(.invalidCredentials)
      ),
      (
        403,
        #"{"error":"unauthorized_client","error_description":"Grant type 'password' not allowed for the client."}"#,
        .misconfigured(.grant)
      ),
      (401, #"{"error":"invalid_client","error_description":"Unauthorized"}"#, .misconfigured(.client)),
      (
        429, #"{"error":"too_many_attempts","error_description":"Your account has been blocked"}"#,
        .transient(.providerUnavailable)
      ),
    ] as [(Int, String, ProviderFailure)] {
      #expect(try await RecordedProvider.loginRefusal(dialect, status, body) == expected, "\(body)")
    }
  }

  @Test func `a refresh`() async throws {
    #expect(dialect.issuer == "https://acme.eu.auth0.com/")
    let tokens = try await RecordedProvider.refresh(
      dialect,
      """
      {"access_token":"made-up-access","refresh_token":"v1.made-up","id_token":"\(idToken(Self.claims))",\
      "scope":"openid offline_access","expires_in":86400,"token_type":"Bearer"}
      """)
    #expect(tokens.refreshToken != nil && tokens.subject == "auth0|5b4a-made-up")
    #expect(tokens.accessTokenExpiresAt != nil)
  }

  @Test func `a refused refresh`() async throws {
    for (status, body, expected) in [
      (
        403, #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#,
        .sessionEnded(.refreshRejected)
      ),
      (
        403,
        #"{"error":"mfa_required","error_description":"Multifactor authentication required","mfa_token":"Fe26.made-up"}"#,
        .reauthenticationRequired
      ),
      (
        429, #"{"error":"too_many_requests","error_description":"Global limit has been reached"}"#,
        .transient(.providerUnavailable)
      ),
      (401, #"{"error":"invalid_client","error_description":"Unauthorized"}"#, .misconfigured(.client)),
    ] as [(Int, String, ProviderFailure)] {
      #expect(try await RecordedProvider.refusal(dialect, status, body) == expected, "\(body)")
    }
  }

  @Test func `the end of a session`() async throws {
    let (failure, requests) = try await RecordedProvider.revocation(dialect) { _ in FakeProvider.Reply(200, "", []) }
    #expect(failure == nil && requests.first?.form["token"] == "rt")
    let (refused, _) = try await RecordedProvider.revocation(dialect) { _ in
      FakeProvider.Reply(401, #"{"error":"invalid_client","error_description":"The client secret is wrong"}"#)
    }
    #expect(refused == .misconfigured(.client))
  }

  @Test func `the user`() async throws {
    let user = """
      {"sub":"auth0|5b4a-made-up","name":"Ann Example","given_name":"Ann","family_name":"Example","nickname":"ann",\
      "picture":"https://example.com/ann.jpg","email":"ann@example.com","email_verified":true,\
      "updated_at":"1556845729"}
      """
    #expect(
      try await RecordedProvider.user(dialect, 200, user)
        == .success(
          User(id: "auth0|5b4a-made-up", email: "ann@example.com", emailVerified: true, name: "Ann Example")))
    #expect(try await RecordedProvider.user(dialect, 401, "Unauthorized") == .failure(.tokenRefused))
  }
}
