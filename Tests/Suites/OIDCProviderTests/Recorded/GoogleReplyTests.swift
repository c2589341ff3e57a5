import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Google (developers.google.com/identity/protocols/oauth2, "TV and limited-input devices", "OpenID Connect").
@Suite(.standardTimeLimit) struct GoogleReplyTests {
  private static let device = """
    {"device_code":"made-up-device","user_code":"GQVQ-JKEC","verification_url":"https://www.google.com/device",\
    "expires_in":1800,"interval":5}
    """
  private static let claims = """
    {"iss":"https://accounts.google.com","azp":"cli","aud":"cli","sub":"110248495921238986420","hd":"example.com",\
    "email":"ann@example.com","email_verified":true,"at_hash":"made-up","name":"Ann Example","iat":1800000000,\
    "exp":9999999999}
    """

  @Test func `a login at another device`() async throws {
    let tokens = """
      {"access_token":"1/fFAGRNJru1FTz70BzhT3Zg-made-up","expires_in":3920,"scope":"openid email profile",\
      "token_type":"Bearer","refresh_token":"1//xEoDL4iW3cxlI7yDbSRFYNG01kVKM2C-made-up","id_token":"\(idToken(Self.claims))"}
      """
    let (action, progress) = try await RecordedProvider.deviceLogin(.google, Self.device) { _ in
      FakeProvider.Reply(200, tokens)
    }
    #expect(action.verificationURI == "https://www.google.com/device" && action.userCode == "GQVQ-JKEC")
    let session = try #require(try progress.get().session)
    #expect(
      session.user?.withoutClaims
        == User(id: "110248495921238986420", email: "ann@example.com", emailVerified: true, name: "Ann Example"))
    #expect(session.user?.claims.map { String(decoding: $0.text, as: UTF8.self) } == #"{"hd":"example.com"}"#)
    for (status, body, slowsDown) in [
      (428, #"{"error":"authorization_pending","error_description":"Precondition Required"}"#, false),
      (403, #"{"error":"slow_down","error_description":"Forbidden"}"#, true),
    ] {
      let (_, progress) = try await RecordedProvider.deviceLogin(.google, Self.device) { _ in
        FakeProvider.Reply(status, body)
      }
      #expect(try progress.get().slowsDown == slowsDown)
    }
    let (_, denied) = try await RecordedProvider.deviceLogin(.google, Self.device) { _ in
      FakeProvider.Reply(403, #"{"error":"access_denied","error_description":"Forbidden"}"#)
    }
    #expect(throws: ProviderFailure.refused(.consentDenied)) { try denied.get() }
  }

  @Test func `a refresh`() async throws {
    let tokens = try await RecordedProvider.refresh(
      .google,
      """
      {"access_token":"1/fFAGRNJru1FTz70BzhT3Zg-made-up","expires_in":3920,\
      "scope":"https://www.googleapis.com/auth/drive.metadata.readonly openid","token_type":"Bearer",\
      "id_token":"\(idToken(Self.claims))"}
      """)
    #expect(tokens.refreshToken == nil && tokens.scopes.count == 2 && tokens.subject == "110248495921238986420")
  }

  @Test func `a refused refresh`() async throws {
    for (status, body, expected) in [
      (
        400, #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#,
        .sessionEnded(.refreshRejected)
      ),
      (
        401, #"{"error":"invalid_client","error_description":"The OAuth client was not found."}"#,
        .misconfigured(.client)
      ),
      (401, #"{"error":"unauthorized_client","error_description":"Unauthorized"}"#, .misconfigured(.grant)),
      (
        400, #"{"error":"invalid_request","error_description":"client_secret is missing."}"#,
        RefusalTests.unclear(.request, "invalid_request")
      ),
    ] as [(Int, String, ProviderFailure)] {
      #expect(try await RecordedProvider.refusal(.google, status, body) == expected, "\(body)")
    }
  }

  @Test func `the end of a session`() async throws {
    let (failure, requests) = try await RecordedProvider.revocation(.google) { _ in FakeProvider.Reply(200, "{}") }
    #expect(failure == nil && requests.map { $0.form["token"] } == ["rt", "at"])
    // The end of one token is the end of both, so the second is no good any more.
    let (again, _) = try await RecordedProvider.revocation(.google) { request in
      request.form["token"] == "rt"
        ? FakeProvider.Reply(200, "{}")
        : FakeProvider.Reply(400, #"{"error":"invalid_token","error_description":"Token expired or revoked"}"#)
    }
    #expect(again == nil)
  }

  @Test func `the user`() async throws {
    let user = """
      {"sub":"110248495921238986420","name":"Ann Example","given_name":"Ann","family_name":"Example",\
      "picture":"https://example.com/ann.jpg","email":"ann@example.com","email_verified":true,"hd":"example.com"}
      """
    #expect(
      try await RecordedProvider.user(.google, 200, user)
        == .success(
          User(id: "110248495921238986420", email: "ann@example.com", emailVerified: true, name: "Ann Example")))
    #expect(
      try await RecordedProvider.user(
        .google, 401, #"{"error":"invalid_request","error_description":"Invalid Credentials"}"#)
        == .failure(.tokenRefused))
  }
}
