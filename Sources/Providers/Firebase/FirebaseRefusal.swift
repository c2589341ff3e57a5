import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit

/// An error response: `{"error":{"code","message","status"?,"details"?}}`.
///
/// `message` begins with a name (`WEAK_PASSWORD : Password should …`); the sentence after it is not read.
struct FirebaseRefusal {
  /// The names of an error.
  struct Names: Equatable {
    /// The name at the beginning of the message; empty where there is none.
    var message: String
    /// Google's own name for the kind of error (`INVALID_ARGUMENT`); empty where there is none.
    var status: String
    /// The reasons of the details (`API_KEY_INVALID`).
    var reasons: [String]

    /// The longest name that is examined.
    private static let longest = 128
    /// More details than any error has.
    private static let mostDetails = 16

    /// Reads the names; nil for what is not such an error.
    init?(_ root: JSONNode) {
      guard let error = root["error"] else { return nil }
      // The Secure Token service has answered `{"error":"invalid_grant"}`-like strings as well (RFC 6749, section 5.2).
      message = Self.name((try? error.string()) ?? error["message"].flatMap { try? $0.string() } ?? "")
      status = Self.name(error["status"].flatMap { try? $0.string() } ?? "")
      let details = (try? error["details"]?.elements()) ?? []
      reasons = details.prefix(Self.mostDetails).compactMap { $0["reason"].flatMap { try? $0.string() } }
    }

    /// The letters, digits and underscores that a string begins with.
    private static func name(_ text: String) -> String {
      let name = text.utf8.prefix { byte in
        (0x41...0x5A).contains(byte & 0xDF) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
      }
      return name.count <= longest ? String(decoding: name, as: UTF8.self).uppercased() : ""
    }

    /// Whether the project, its key or the kind of request was refused: no password fixes that.
    var blamesConfiguration: Bool {
      let own: Set<String> = [
        "CONFIGURATION_NOT_FOUND", "PROJECT_NOT_FOUND", "PROJECT_NUMBER_MISMATCH", "OPERATION_NOT_ALLOWED",
        "PASSWORD_LOGIN_DISABLED", "INVALID_GRANT_TYPE", "MISSING_GRANT_TYPE", "MISSING_REFRESH_TOKEN",
        "INVALID_API_KEY", "UNSUPPORTED_TENANT_OPERATION", "INVALID_TENANT_ID", "UNAUTHORIZED_DOMAIN",
      ]
      return own.contains(message) || reasons.contains { $0.hasPrefix("API_KEY_") || $0 == "SERVICE_DISABLED" }
    }
  }

  /// The name of the error; nil where the body is no such error.
  private let names: Names?
  private let refusal: Refusal

  /// A refusal; what names no error comes from a middlebox.
  init(status: Int, names: Names?, retryAfter: Duration?) {
    self.names = names
    let form: BodyForm = names == nil ? .html : .json
    refusal = Refusal(status: status, form: form, code: names?.message, retryAfter: retryAfter)
  }

  /// The failure that the refusal means, by the call, and whether an ID token was sent along.
  func failure(_ call: FirebaseCall, carriesToken: Bool) -> ProviderFailure {
    let (status, retryAfter) = (refusal.status, refusal.retryAfter)
    if call == .token {
      if let lost = refusal.lostReply(rotates: false) { return lost }
      if (200..<300).contains(status) { return .outcomeUnknown(.invalidResponse) }
    }
    guard let names else {
      return call == .finishSecondFactor ? refusal.lostReply(rotates: false) ?? refusal.passing : refusal.passing
    }
    if names.blamesConfiguration { return .misconfigured(.project) }
    if call == .token { return refreshFailure(names) }
    if carriesToken, Self.endedTokens.contains(names.message) { return .tokenRefused }
    if let kind = Self.kinds[names.message] {
      return .refused(
        kind, retryAfter: kind == .tooManyAttempts || kind == .rateLimited ? retryAfter : nil,
        fields: Self.fields[names.message])
    }
    if status == 429 || names.status == "RESOURCE_EXHAUSTED" {
      return .refused(.rateLimited, retryAfter: retryAfter)
    }
    guard (400..<500).contains(status), status != 408 else { return refusal.passing }
    if status == 403 || names.status == "PERMISSION_DENIED" { return .refused(.providerRejected) }
    switch call {
    case .signInWithPassword: return .refused(.invalidCredentials)
    case .finishSecondFactor: return .refused(.otpInvalid)
    default: return .refused(.validationFailed)
    }
  }

  /// Only a name that is known to mean it ends a session: everything else may pass.
  private func refreshFailure(_ names: Names) -> ProviderFailure {
    [400, 401, 403].contains(refusal.status) && Self.endings.contains(names.message)
      ? refusal.sessionEnded : refusal.passing
  }

  /// The names that refuse a refresh for good (Firebase Auth REST API, "Exchange a refresh token for an ID token").
  private static let endings: Set<String> = [
    "TOKEN_EXPIRED", "USER_DISABLED", "USER_NOT_FOUND", "INVALID_REFRESH_TOKEN", "INVALID_GRANT",
  ]

  /// An ID token that is not accepted: a fresh one may be.
  private static let endedTokens: Set<String> = ["INVALID_ID_TOKEN", "TOKEN_EXPIRED", "USER_NOT_FOUND"]

  private static let kinds: [String: ErrorKind] = [
    "EMAIL_EXISTS": .emailTaken,
    "EMAIL_NOT_FOUND": .invalidCredentials,
    "USER_NOT_FOUND": .invalidCredentials,
    "INVALID_PASSWORD": .invalidCredentials,
    "INVALID_LOGIN_CREDENTIALS": .invalidCredentials,
    "MISSING_PASSWORD": .missingCredential,
    "MISSING_EMAIL": .missingCredential,
    "INVALID_EMAIL": .validationFailed,
    "WEAK_PASSWORD": .validationFailed,
    "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": .validationFailed,
    "EXPIRED_OOB_CODE": .validationFailed,
    "INVALID_OOB_CODE": .validationFailed,
    "MISSING_OOB_CODE": .validationFailed,
    "USER_DISABLED": .accountLocked,
    "TOO_MANY_ATTEMPTS_TRY_LATER": .tooManyAttempts,
    "RESET_PASSWORD_EXCEED_LIMIT": .rateLimited,
    "QUOTA_EXCEEDED": .rateLimited,
    "CREDENTIAL_TOO_OLD_LOGIN_AGAIN": .reauthRequired,
    "UNVERIFIED_EMAIL": .emailUnverified,
    "ADMIN_ONLY_OPERATION": .forbidden,
    "CAPTCHA_CHECK_FAILED": .captchaRequired,
    "MISSING_RECAPTCHA_TOKEN": .captchaRequired,
    "INVALID_RECAPTCHA_TOKEN": .captchaRequired,
    "RECAPTCHA_NOT_ENABLED": .captchaRequired,
    "INVALID_CODE": .otpInvalid,
    "INVALID_MFA_PENDING_CREDENTIAL": .flowNotFound,
    "MISSING_MFA_PENDING_CREDENTIAL": .flowNotFound,
    "MFA_ENROLLMENT_NOT_FOUND": .flowNotFound,
    "SESSION_EXPIRED": .otpExpired,
  ]

  /// The client's fields that a name is about.
  private static let fields: [String: [String]] = [
    "INVALID_EMAIL": ["email"], "MISSING_EMAIL": ["email"], "WEAK_PASSWORD": ["password"],
    "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": ["password"], "MISSING_PASSWORD": ["password"],
    "EXPIRED_OOB_CODE": ["token"], "INVALID_OOB_CODE": ["token"], "MISSING_OOB_CODE": ["token"],
  ]
}
