import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import HTTP
@testable import RESTProvider

/// What answers of real backends mean for a session, and for a login.
@Suite(.standardTimeLimit) struct RecordedRefusalTests {
  private func reply(
    _ name: RESTEndpoint.Name, _ status: Int, _ body: String, _ lines: String, _ mapping: RESTMapping
  ) -> BackendReply {
    var (lines, body) = (Array(lines.utf8), Array(body.utf8))
    let response = HTTPResponse(status: status, lines: WipedBytes(taking: &lines), body: WipedBytes(taking: &body))
    return BackendReply(name, response, mapping, sentAt: sentAt, receivedAt: sentAt + .seconds(2))
  }

  private func failure(
    _ name: RESTEndpoint.Name, _ status: Int, _ body: String, _ lines: String = "Content-Type: application/json\n",
    _ mapping: RESTMapping = .standard
  ) async -> ProviderFailure? {
    let reply = reply(name, status, body, lines, mapping)
    do throws(ProviderFailure) {
      _ = try await reply.read { reader throws(SecretMemoryExhausted) in try reader.tokens() }
      return nil
    } catch { return error }
  }

  private enum State { case ended, kept, counted, misconfigured, lost }

  private func state(_ failure: ProviderFailure?) -> State? {
    switch failure {
    case .sessionEnded: .ended
    case .transient: .kept
    case .rejected(let rejection): rejection.isCounted ? .counted : .kept
    case .misconfigured: .misconfigured
    case .outcomeUnknown: .lost
    default: nil
    }
  }

  private static let passing: [(Int, String)] = [
    (400, #"{"error":"temporarily_unavailable"}"#), (400, #"{"error":"server_error","message":"Internal"}"#),
    (401, #"{"message":"Too many requests, try again later"}"#), (400, #"{"error":"rate_limited"}"#),
    (400, #"{"message":"Maintenance mode","code":"maintenance"}"#),
    (401, #"{"error":"database unavailable","message":"try again later"}"#),
    (400, #"{"message":"SequelizeConnectionRefusedError: connect ECONNREFUSED 127.0.0.1:5432"}"#),
    (401, #"{"message":"gateway session cookie expired"}"#), (403, #"{"message":"Forbidden","code":"WAF"}"#),
    (403, #"{"type":"about:blank","title":"Forbidden","status":403}"#),
    (403, #"{"statusCode":403,"message":"Access Denied","error":"Forbidden"}"#),
    (404, #"{"timestamp":"x","status":404,"error":"Not Found","path":"/auth/refresh"}"#),
    (405, #"{"statusCode":405,"error":"Method Not Allowed","message":"x"}"#),
    (409, #"{"error":"conflict","message":"refresh in progress"}"#), (415, #"{"detail":"Unsupported media type"}"#),
    (404, #"{"message":"Cannot POST /auth/refresh-token","error":"Not Found","statusCode":404}"#),
  ]

  private static let unclear: [(Int, String)] = [
    (
      400,
      #"{"statusCode":400,"message":["refreshToken must be a string","property refresh_token should not exist"],"error":"Bad Request"}"#
    ),
    (400, #"{"message":"refreshToken is required"}"#), (400, #"{"message":"CSRF token missing"}"#),
    (419, #"{"message":"Unauthenticated."}"#), (200, #"{"status":"fail","data":{"refreshToken":"expired"}}"#),
    (200, #"{"code":401,"msg":"No.","data":null}"#), (200, #"{"code":1001,"message":"token invalid","data":{}}"#),
    (400, #"{"refresh":["This field is required."]}"#),
  ]

  private static let over: [(Int, String)] = [
    (401, #"{"message":"x"}"#), (401, "{}"), (400, #"{"error":"odd"}"#), (401, #"{"message":"Unauthorized"}"#),
    (401, #"{"error":"invalid_credentials","message":"Invalid credentials"}"#),
    (404, #"{"message":"Refresh token not found"}"#), (500, #"{"error":"invalid_grant"}"#),
    (403, #"{"message":"Refresh token is not in database!"}"#),
    (401, #"{"message":"No such token in the database"}"#), (401, #"{"message":"Complete your registration"}"#),
    (410, #"{"message":"Session not found"}"#), (422, #"{"error":"invalid_grant"}"#),
    (422, #"{"message":"No.","errors":{"refresh_token":["The selected refresh token is invalid."]}}"#),
    (403, #"{"type":"/probs/refresh-token-expired","title":"Refused","status":403}"#),
    (200, #"{"code":401,"msg":"refresh token expired","data":null}"#),
    (200, #"{"status":"error","message":"refresh token expired"}"#),
    (200, #"{"statusCode":401,"message":"Refresh token expired"}"#),
    (200, #"{"isSuccess":false,"error":null,"message":"refresh token expired"}"#),
    (200, #"{"success":"false","message":"refresh token expired"}"#),
    (200, #"{"ok":0,"message":"refresh token expired"}"#),
    (200, #"{"Success":false,"Message":"refresh token expired"}"#),
    (200, #"{"data":{"success":false,"message":"Refresh token expired"}}"#),
  ]

  @Test func `each recorded answer to a refresh leaves the session as it should be`() async {
    for (rows, expected) in [
      (Self.passing, State.kept), (Self.unclear, .counted), (Self.over, .ended),
      (
        [(401, #"{"message":"Missing or invalid API key"}"#), (401, #"{"error":"invalid_client"}"#)],
        .misconfigured
      ),
      (
        [(200, #"{"data":null}"#), (200, #"{"code":0}"#), (200, #"{"code":1,"message":"ok","data":{"t":"x"}}"#)], .lost
      ),
    ] {
      for (status, body) in rows {
        let found = await failure(.refresh, status, body)
        #expect(state(found) == expected, "\(status) \(body): \(String(describing: found))")
      }
    }
  }

  @Test func `what stands before the backend ends no session`() async {
    for lines in ["WWW-Authenticate: Basic realm=\"corp proxy\"\n", "WWW-Authenticate: Negotiate\n"] {
      #expect(state(await failure(.refresh, 401, "", lines)) == .kept)
    }
    #expect(state(await failure(.refresh, 401, "", "WWW-Authenticate: Bearer\n")) == .ended)
    #expect(state(await failure(.refresh, 401, #"{"message":"x"}"#, "Retry-After: 30\n")) == .kept)
    let page = "Content-Type: text/html\n"
    #expect(state(await failure(.refresh, 401, #"{"error":"token_expired"}"#, page)) == .ended)
    #expect(state(await failure(.refresh, 401, #"<p>{"error":"token_expired"}"#, page)) == .kept)
  }

  @Test func `a mapping's kinds are asked for every form of a refusal`() async {
    var mapping = RESTMapping.standard
    mapping.errors.kinds = ["401": .sessionExpired, "GONE": .sessionExpired, "odd": .providerUnavailable]
    let json = "Content-Type: application/json\n"
    for body in [#"{"code":401,"msg":"x"}"#, #"{"code":401,"data":null}"#, #"{"code":"GONE","data":null}"#] {
      #expect(await failure(.refresh, 200, body, json, mapping) == .sessionEnded(.refreshRejected))
    }
    #expect(state(await failure(.refresh, 401, #"{"error":"odd"}"#, json, mapping)) == .kept)
  }

  @Test(
    arguments: [
      (
        .login, 422, #"{"message":"These credentials do not match our records.","errors":{"email":["x"]}}"#,
        .invalidCredentials
      ),
      (.login, 422, #"{"message":"The email field is required.","errors":{"email":["x"]}}"#, .validationFailed),
      (.login, 403, #"{"message":"Your email address is not verified."}"#, .emailUnverified),
      (
        .login, 400, #"{"error_code":"captcha_failed","msg":"captcha protection: request disallowed"}"#,
        .captchaRequired
      ),
      (.login, 403, #"{"code":"PASSWORD_EXPIRED","message":"change it"}"#, .accountLocked),
      (.login, 404, #"{"message":"User not found"}"#, .invalidCredentials),
      (.login, 403, #"{"error":"mfa_required","mfa_token":"x"}"#, .unsupportedByProvider),
      (.login, 401, #"{"errors":["A confirmation email was sent to your account."]}"#, .emailUnverified),
      (.login, 401, #"{"message":"Account disabled"}"#, .accountLocked),
      (.login, 401, #"{"message":"Invalid credentials"}"#, .invalidCredentials),
      (.login, 200, #"{"code":401,"msg":"bad password","data":null}"#, .invalidCredentials),
      (.login, 400, #"{"error":"server_error"}"#, .providerUnavailable),
      (.verifyOtp, 422, #"{"errors":{"code":["The code is invalid."]}}"#, .otpInvalid),
      (.verifyBackupCode, 422, "{}", .backupCodeInvalid),
    ] as [(RESTEndpoint.Name, Int, String, ErrorKind)])
  func `a login is refused for what is in its way`(
    _ name: RESTEndpoint.Name, _ status: Int, _ body: String, _ kind: ErrorKind
  ) async {
    #expect(await failure(name, status, body)?.kind == kind)
  }

  @Test func `a challenge is one whatever status it comes with`() async {
    let body = #"{"error":"otp_required","requires2FA":true,"otpFlowId":"F1"}"#
    for status in [401, 403, 428] {
      for name in [RESTEndpoint.Name.login, .refresh, .verifyOtp] {
        let reply = reply(name, status, body, "Content-Type: application/json\n", .standard)
        let challenge = try? await reply.read { reader throws(SecretMemoryExhausted) in
          try reader.challenge(allowsBackupCodes: false)
        }
        #expect((challenge != nil) == (name != .verifyOtp), "\(status) \(name)")
      }
    }
  }
}
