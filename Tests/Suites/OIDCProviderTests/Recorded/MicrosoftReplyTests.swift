import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Microsoft's identity platform (learn.microsoft.com/entra/identity-platform, "device authorization grant",
/// "authorization code flow", "UserInfo endpoint").
@Suite(.standardTimeLimit) struct MicrosoftReplyTests {
  private let dialect = OIDCDialect.microsoft(tenant: "common")

  private static let tenant = "9188040d-6c67-4c5b-b112-36a304b66dad"
  private static let device = """
    {"user_code":"GQVQJKEC","device_code":"GMMhmHCXhWEzkobqIHGG_EnNYYsAkukHspeYUk9E8-made-up",\
    "verification_uri":"https://microsoft.com/devicelogin","expires_in":900,"interval":5,\
    "message":"To sign in, use a web browser to open the page https://microsoft.com/devicelogin"}
    """

  private static func tokens(tenant: String) -> String {
    let claims = """
      {"ver":"2.0","iss":"https://login.microsoftonline.com/\(tenant)/v2.0","sub":"AAAAAAAAAAAAAAAAAAAAAIkzqF-made-up",\
      "aud":"cli","exp":9999999999,"iat":1800000000,"nbf":1700000000,"name":"Ann Example",\
      "preferred_username":"ann@example.com","oid":"00000000-0000-0000-66f3-3332eca7ea81","tid":"\(Self.tenant)"}
      """
    return """
      {"token_type":"Bearer","scope":"User.Read profile openid email","expires_in":3599,"ext_expires_in":3599,\
      "access_token":"eyJ0.made-up","refresh_token":"0.AXEA-made-up","id_token":"\(idToken(claims))"}
      """
  }

  @Test func `a login at another device`() async throws {
    let (action, progress) = try await RecordedProvider.deviceLogin(dialect, Self.device) { _ in
      FakeProvider.Reply(200, Self.tokens(tenant: Self.tenant))
    }
    #expect(action.verificationURI == "https://microsoft.com/devicelogin" && action.userCode == "GQVQJKEC")
    let session = try #require(try progress.get().session)
    #expect(session.user?.withoutClaims == User(id: "AAAAAAAAAAAAAAAAAAAAAIkzqF-made-up", name: "Ann Example"))
    let (_, other) = try await RecordedProvider.deviceLogin(dialect, Self.device) { _ in
      FakeProvider.Reply(200, Self.tokens(tenant: "72f988bf-86f1-41af-91ab-2d7cd011db47"))
    }
    #expect(throws: RefusalTests.flawed(.issuer)) { try other.get() }
    let (_, pending) = try await RecordedProvider.deviceLogin(dialect, Self.device) { _ in
      FakeProvider.Reply(
        400, #"{"error":"authorization_pending","error_description":"AADSTS70016: made up","error_codes":[70016]}"#)
    }
    #expect(try pending.get().slowsDown == false)
    for (code, kind) in [
      ("authorization_declined", ErrorKind.consentDenied), ("expired_token", .otpExpired),
      ("bad_verification_code", .flowNotFound),
    ] {
      let (_, refused) = try await RecordedProvider.deviceLogin(dialect, Self.device) { _ in
        FakeProvider.Reply(400, #"{"error":"\#(code)","error_description":"AADSTS70000: made up"}"#)
      }
      #expect(throws: ProviderFailure.refused(kind)) { try refused.get() }
    }
  }

  @Test func `a refresh`() async throws {
    let tokens = try await RecordedProvider.refresh(dialect, Self.tokens(tenant: Self.tenant))
    #expect(tokens.scopes.first == "User.Read" && tokens.subject == "AAAAAAAAAAAAAAAAAAAAAIkzqF-made-up")
    let confused = try await RecordedProvider.refresh(
      dialect, Self.tokens(tenant: "72f988bf-86f1-41af-91ab-2d7cd011db47"))
    #expect(confused.idToken == nil && confused.subject == nil && confused.refreshToken != nil)
  }

  @Test func `a refused refresh`() async throws {
    let expired = """
      {"error":"invalid_grant","error_description":"AADSTS70008: The refresh token has expired due to inactivity.",\
      "error_codes":[70008],"timestamp":"2026-01-09 02:02:12Z","trace_id":"made-up","correlation_id":"made-up"}
      """
    for (status, body, expected) in [
      (400, expired, .sessionEnded(.refreshRejected)),
      (
        400, #"{"error":"interaction_required","error_description":"AADSTS50079: made up","suberror":"basic_action"}"#,
        .reauthenticationRequired
      ),
      (400, #"{"error":"consent_required","error_description":"AADSTS65001: made up"}"#, .reauthenticationRequired),
      (
        401, #"{"error":"invalid_client","error_description":"AADSTS7000215: made up","error_codes":[7000215]}"#,
        .misconfigured(.client)
      ),
      (
        400, #"{"error":"unauthorized_client","error_description":"AADSTS700016: made up","error_codes":[700016]}"#,
        .misconfigured(.grant)
      ),
      (
        400, #"{"error":"invalid_scope","error_description":"AADSTS70011: made up","error_codes":[70011]}"#,
        RefusalTests.unclear(.scopes, "invalid_scope")
      ),
      (503, #"{"error":"temporarily_unavailable","error_description":"made up"}"#, .transient(.providerUnavailable)),
    ] as [(Int, String, ProviderFailure)] {
      #expect(try await RecordedProvider.refusal(dialect, status, body) == expected, "\(body)")
    }
  }

  @Test func `the end of a session is not to be had without a browser`() async throws {
    let (failure, requests) = try await RecordedProvider.revocation(dialect, without: [.revocation]) { _ in
      FakeProvider.Reply(200, "", [])
    }
    #expect(failure == .unsupported && requests.isEmpty)
  }

  @Test func `the user`() async throws {
    let user = """
      {"sub":"OLu859SGc2Sr9ZsqbkG-made-up","name":"Ann Example","family_name":"Example","given_name":"Ann",\
      "picture":"https://graph.microsoft.com/v1.0/me/photo/$value","email":"ann@example.com"}
      """
    #expect(
      try await RecordedProvider.user(dialect, 200, user)
        == .success(User(id: "OLu859SGc2Sr9ZsqbkG-made-up", email: "ann@example.com", name: "Ann Example")))
    let refused = #"{"error":{"code":"InvalidAuthenticationToken","message":"made up","innerError":{"date":"x"}}}"#
    #expect(try await RecordedProvider.user(dialect, 401, refused) == .failure(.tokenRefused))
  }
}
