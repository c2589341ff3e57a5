import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Keycloak (keycloak.org, "Securing applications", and its replies).
@Suite(.standardTimeLimit) struct KeycloakReplyTests {
  private let dialect = OIDCDialect.keycloak(baseURL: "https://sso.example.com/", realm: "acme")

  private static let issuer = "https://sso.example.com/realms/acme"
  private static let user = """
    {"sub":"f4d6c8a0-made-up","email_verified":false,"name":"Ann Example","preferred_username":"ann",\
    "given_name":"Ann","family_name":"Example","email":"ann@example.com"}
    """

  private static func tokens(_ more: String = "") -> String {
    """
    {"access_token":"made-up-access","expires_in":300,"refresh_expires_in":1800,"refresh_token":"made-up-refresh",\
    "token_type":"Bearer"\(more),"not-before-policy":0,"session_state":"9d2c4a8e-made-up","scope":"openid email profile"}
    """
  }

  @Test func `a login with a password`() async throws {
    let claims = """
      {"exp":9999999999,"iat":1800000000,"auth_time":0,"jti":"made-up","iss":"\(Self.issuer)","aud":"cli",\
      "sub":"f4d6c8a0-made-up","typ":"ID","azp":"cli","sid":"9d2c4a8e-made-up","acr":"1","email_verified":false,\
      "name":"Ann Example","preferred_username":"ann","given_name":"Ann","family_name":"Example",\
      "email":"ann@example.com"}
      """
    let reply = Self.tokens(#","id_token":"\#(idToken(claims))""#)
    try await RecordedProvider.run(dialect) { _ in
      FakeProvider.Reply(200, reply)
    } _: { recorded in
      let session = try #require(try await recorded.provider.login(.ann()).session)
      #expect(
        session.user?.withoutClaims
          == User(id: "f4d6c8a0-made-up", email: "ann@example.com", emailVerified: false, name: "Ann Example"))
      #expect(session.tokens.scopes == ["openid", "email", "profile"] && session.tokens.idToken != nil)
      #expect(recorded.server.requests.count == 1)
    }
    #expect(
      try await RecordedProvider.loginRefusal(
        dialect, 401, #"{"error":"invalid_grant","error_description":"Invalid user credentials"}"#)
        == .refused(.invalidCredentials))
    #expect(
      try await RecordedProvider.loginRefusal(
        dialect, 401,
        #"{"error":"unauthorized_client","error_description":"Invalid client or Invalid client credentials"}"#)
        == .misconfigured(.grant))
    #expect(
      try await RecordedProvider.loginRefusal(
        dialect, 400,
        #"{"error":"unauthorized_client","error_description":"Client not allowed for direct access grants"}"#)
        == .misconfigured(.grant))
  }

  @Test func `a refresh`() async throws {
    let tokens = try await RecordedProvider.refresh(dialect, Self.tokens())
    let access = try #require(RecordedProvider.seconds(tokens.accessTokenExpiresAt))
    #expect(RecordedProvider.seconds(tokens.refreshTokenExpiresAt) == access + 1500)
    let offline = try await RecordedProvider.refresh(
      dialect, #"{"access_token":"a","expires_in":300,"refresh_expires_in":0,"refresh_token":"r"}"#)
    #expect(offline.refreshToken != nil && offline.refreshTokenExpiresAt == nil)
  }

  @Test(arguments: ["Token is not active", "Session not active", "Maximum allowed refresh token reuse exceeded"])
  func `a refused refresh`(_ sentence: String) async throws {
    #expect(
      try await RecordedProvider.refusal(
        dialect, 400, #"{"error":"invalid_grant","error_description":"\#(sentence)"}"#)
        == .sessionEnded(.refreshRejected))
    #expect(
      try await RecordedProvider.refusal(
        dialect, 401, #"{"error":"invalid_client","error_description":"Invalid client credentials"}"#)
        == .misconfigured(.client))
  }

  @Test func `the end of a session`() async throws {
    let (failure, requests) = try await RecordedProvider.revocation(dialect) { _ in FakeProvider.Reply(200, "", []) }
    #expect(failure == nil && requests.map(\.path) == ["/revocation", "/revocation"])
    let (all, logout) = try await RecordedProvider.revocation(dialect, everywhere: true) { request in
      request.path == "/endSession" ? FakeProvider.Reply(204, "", []) : FakeProvider.Reply(200, "", [])
    }
    #expect(all == nil && logout.first?.form["refresh_token"] == "rt")
  }

  @Test func `the user`() async throws {
    #expect(
      try await RecordedProvider.user(dialect, 200, Self.user)
        == .success(User(id: "f4d6c8a0-made-up", email: "ann@example.com", emailVerified: false, name: "Ann Example")))
    #expect(
      try await RecordedProvider.user(
        dialect, 401, #"{"error":"invalid_token","error_description":"Token verification failed"}"#)
        == .failure(.tokenRefused))
  }
}
