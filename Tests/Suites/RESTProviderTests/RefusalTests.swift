import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit
import TestSupport
import Testing

@testable import RESTProvider

@Suite(.standardTimeLimit) struct RefusalTests {
  private func failure(
    _ status: Int, _ json: String?, _ name: RESTEndpoint.Name, form: BodyForm? = nil,
    mapping: RESTMapping = .standard
  ) throws -> ProviderFailure {
    var refusal = Refusal(status: status, form: form ?? (json == nil ? .empty : .json))
    if let json {
      let reader = try reader(json)
      refusal.words = RefusalWords(reader.root)
      refusal.read(reader, mapping.errors)
    }
    return RefusalTable.failure(refusal, name, mapping)
  }

  @Test(arguments: [
    #"{"error":"invalid_credentials","timestamp":"2027-01-15T08:00:00Z","path":"/auth/login","status":401}"#,
    #"{"error":"invalid_credentials","error_description":"No."}"#, #"{"code":"INVALID_CREDENTIALS","message":"No."}"#,
    #"{"type":"https://api.example.com/problems/invalid-credentials","title":"No.","status":401}"#,
    #"{"error":{"code":"InvalidCredentials","message":"No."}}"#,
    #"{"error":"Unauthorized","code":"invalidCredentials"}"#,
    #"{"type":"about:blank","code":"invalid_credentials"}"#, #"{"type":"urn:problem:invalid-credentials"}"#,
  ])
  func `every known form of an error is read`(_ json: String) throws {
    #expect(try failure(422, json, .login) == .refused(.invalidCredentials))
  }

  @Test(arguments: [
    (#"{"errors":{"email":["taken"],"password":["short"]}}"#, ["email", "password"]),
    (#"{"errors":[{"field":"email"},{"name":"password"},{"x":1},"odd"]}"#, ["email", "password"]),
    (#"{"fields":{"name":"no"}}"#, ["name"]), (#"{"invalid-params":[{"name":"age","reason":"no"}]}"#, ["age"]),
    (#"{"violations":[{"propertyPath":"phone"}]}"#, ["phone"]),
    (#"{"errors":{"\u001b[2J":["x"],"a\u202eb":[]}}"#, ["[2J", "ab"]),
  ])
  func `fields that are not valid are named`(_ json: String, _ fields: [String]) throws {
    for status in [400, 422] {
      #expect(try failure(status, json, .register) == .refused(.validationFailed, fields: fields))
    }
  }

  @Test func `fields have the names that clients know, and there are few of them`() throws {
    var mapping = RESTMapping.standard
    mapping.endpoints[.register]?.fields[.phoneNumber] = "mobile"
    #expect(
      try failure(422, #"{"errors":{"mobile":[]}}"#, .register, mapping: mapping)
        == .refused(.validationFailed, fields: ["phoneNumber"]))
    let many = (0..<100).map { "\"f\($0)\":1" }.joined(separator: ",")
    guard case .refused(_, _, _, let fields?) = try failure(422, "{\"errors\":{\(many)}}", .register) else {
      Issue.record("no fields")
      return
    }
    #expect(fields.count == 32)
  }

  @Test(arguments: [
    (400, ErrorKind.invalidCredentials), (401, .invalidCredentials), (403, .invalidCredentials),
    (404, .providerRejected),
    (409, .validationFailed), (410, .validationFailed), (418, .providerRejected), (422, .validationFailed),
    (423, .accountLocked), (429, .rateLimited), (408, .providerUnavailable), (425, .providerUnavailable),
    (500, .providerUnavailable), (502, .providerUnavailable), (503, .providerUnavailable), (504, .providerUnavailable),
    (599, .providerUnavailable), (301, .invalidResponse), (407, .networkUnavailable), (511, .networkUnavailable),
    (501, .unsupportedByProvider),
  ])
  func `a login is refused by its status where nothing better is said`(_ status: Int, _ kind: ErrorKind) throws {
    #expect(try failure(status, nil, .login).kind == kind)
    #expect(try failure(status, #"{"error":"Something odd"}"#, .login).kind == kind)
  }

  @Test(arguments: [
    (RESTEndpoint.Name.verifyOtp, 400, ErrorKind.otpInvalid), (.verifyOtp, 401, .otpInvalid),
    (.verifyOtp, 403, .otpInvalid),
    (.verifyOtp, 404, .flowNotFound), (.verifyOtp, 410, .otpExpired), (.verifyOtp, 429, .tooManyAttempts),
    (.verifyBackupCode, 401, .backupCodeInvalid), (.verifyBackupCode, 429, .tooManyAttempts),
    (.resendOtp, 404, .flowNotFound), (.resendOtp, 429, .resendTooSoon), (.resendOtp, 410, .otpExpired),
    (.register, 409, .emailTaken), (.register, 400, .validationFailed), (.changePassword, 403, .invalidCredentials),
    (.changePassword, 401, .providerRejected), (.deleteAccount, 400, .invalidCredentials),
    (.currentUser, 403, .forbidden),
    (.updateProfile, 400, .validationFailed), (.resetPassword, 400, .validationFailed), (.logout, 401, .loginRequired),
  ])
  func `the same status means something else elsewhere`(
    _ name: RESTEndpoint.Name, _ status: Int, _ kind: ErrorKind
  ) throws {
    #expect(try failure(status, nil, name).kind == kind)
  }

  @Test(arguments: [
    (400, BodyForm.json, ProviderFailure.sessionEnded(.refreshRejected)),
    (401, .json, .sessionEnded(.refreshRejected)),
    (400, .empty, .sessionEnded(.refreshRejected)), (401, .empty, .sessionEnded(.refreshRejected)),
    (400, .html, .transient(.invalidResponse)), (401, .html, .transient(.invalidResponse)),
    (401, .other, .transient(.providerRejected)), (403, .json, .transient(.forbidden)),
    (404, .json, .transient(.providerRejected)),
    (405, .empty, .transient(.providerRejected)), (407, .html, .transient(.networkUnavailable)),
    (408, .empty, .transient(.providerUnavailable)), (422, .json, .rejected(ProviderRejection(isCounted: true))),
    (423, .json, .rejected(ProviderRejection(isCounted: true))), (425, .json, .transient(.providerUnavailable)),
    (429, .json, .transient(.providerUnavailable)), (302, .html, .transient(.invalidResponse)),
    (500, .json, .transient(.providerUnavailable)), (503, .html, .transient(.providerUnavailable)),
    (511, .html, .transient(.networkUnavailable)),
    (521, .html, .transient(.providerUnavailable)), (530, .html, .transient(.providerUnavailable)),
    (520, .html, .outcomeUnknown(.providerUnavailable)), (524, .html, .outcomeUnknown(.providerUnavailable)),
    (598, .empty, .outcomeUnknown(.providerUnavailable)), (599, .empty, .outcomeUnknown(.providerUnavailable)),
    (502, .html, .outcomeUnknown(.providerUnavailable)), (502, .json, .outcomeUnknown(.providerUnavailable)),
    (504, .empty, .outcomeUnknown(.providerUnavailable)), (206, .json, .outcomeUnknown(.invalidResponse)),
  ])
  func `a refresh ends the session on the backend's own 400 and 401 only`(
    _ status: Int, _ form: BodyForm, _ expected: ProviderFailure
  ) throws {
    #expect(try failure(status, nil, .refresh, form: form) == expected)
  }

  @Test(arguments: [
    ("invalid_grant", ProviderFailure.sessionEnded(.refreshRejected)),
    ("account_locked", .sessionEnded(.refreshRejected)), ("odd", .sessionEnded(.refreshRejected)),
    ("rate_limited", .transient(.providerUnavailable)), ("server_error", .transient(.providerUnavailable)),
    ("invalid_client", .misconfigured(.client)),
  ])
  func `whatever name a refused refresh has ends the session, but for what passes and for the client's own refusal`(
    _ name: String, _ expected: ProviderFailure
  ) throws {
    let failure = try failure(401, "{\"error\":\"\(name)\"}", .refresh)
    #expect(failure == expected)
    if case .sessionEnded(_, _, let said) = failure { #expect(said.status == 401 && said.error == name) }
  }

  @Test(arguments: [
    ("invalid_code", RESTEndpoint.Name.verifyOtp, ErrorKind.otpInvalid),
    ("invalid_code", .verifyBackupCode, .backupCodeInvalid),
    ("invalid_token", .verifyOtp, .otpInvalid), ("invalid_token", .resetPassword, .validationFailed),
    ("too_many_requests", .verifyOtp, .tooManyAttempts), ("too_many_requests", .resendOtp, .resendTooSoon),
    ("too_many_requests", .login, .rateLimited), ("emailNotVerified", .login, .emailUnverified),
    ("user-already-exists", .register, .emailTaken), ("captcha_required", .login, .captchaRequired),
    ("insufficient_scope", .currentUser, .insufficientScope), ("invalid_client", .login, .providerRejected),
  ])
  func `a name is taken as it is meant`(_ code: String, _ name: RESTEndpoint.Name, _ kind: ErrorKind) throws {
    #expect(try failure(400, "{\"error\":\"\(code)\"}", name).kind == kind)
  }

  @Test func `a client that is refused is for whoever configures`() throws {
    for name in ["invalid_client", "unauthorized_client"] {
      #expect(try failure(401, "{\"error\":\"\(name)\"}", .login) == .misconfigured(.client))
    }
    var mapping = RESTMapping.standard
    mapping.errors.kinds["no_such_plan"] = .providerRejected
    #expect(try failure(400, #"{"error":"no_such_plan"}"#, .login, mapping: mapping) == .refused(.providerRejected))
  }

  @Test func `how often and how long is passed on`() throws {
    #expect(
      try failure(401, #"{"error":"otp_invalid","attemptsRemaining":2}"#, .verifyOtp)
        == .refused(.otpInvalid, attemptsRemaining: 2))
    #expect(try failure(401, #"{"attemptsRemaining":1e9}"#, .verifyOtp) == .refused(.otpInvalid))
    #expect(
      try failure(429, #"{"nextAllowedAt":"2027-01-15T08:00:32Z"}"#, .resendOtp)
        == .refused(.resendTooSoon, retryAfter: .seconds(30)))
    #expect(
      try failure(429, #"{"nextAllowedAt":"9999-01-15T08:00:32Z"}"#, .resendOtp)
        == .refused(.resendTooSoon, retryAfter: .seconds(3600)))
  }
}
