import BrokerCore
import BrokerProtocol
import HTTP
import TestSupport

/// What every misbehaviour of the backend means: for a refresh, which decides whether the session is kept, and for a
/// login.
enum Misbehaviours {
  /// Misbehaviours that mean the same.
  struct Group {
    let refresh: String
    let login: String
    let names: [String]

    init(_ refresh: String, _ login: String, _ names: String) {
      self.refresh = refresh
      self.login = login
      self.names = names.split { $0 == " " || $0 == "\n" }.map(String.init)
    }
  }

  /// Those that never end by themselves.
  private static func isSlow(_ name: String) -> Bool { ["stall", "hold", "drip"].contains { name.hasPrefix($0) } }

  /// The time-outs to try a misbehaviour with, until one of them lets the request arrive.
  static func timeouts(_ name: String) -> [Duration] {
    isSlow(name) ? Patience.timeouts(from: .milliseconds(500)) : [Patience.ceiling]
  }

  static let groups: [Group] = [
    // A page in the reply's place is a portal's; whatever else cannot be read may have been the provider's.
    Group(
      "transient invalidResponse", "refused invalidResponse",
      """
      captive-portal captive-portal-as-json
      """),
    Group(
      "unknown invalidResponse", "refused invalidResponse",
      """
      json-array json-null json-string json-number json-empty-object json-whitespace
      status-204-empty status-206-json empty-200 empty-200-json gzip-bomb deflate-bare
      """),
    // A refusal is no lost reply, whatever its status.
    Group(
      "rejected providerRejected counted", "refused invalidCredentials",
      """
      success-false error-in-200
      """),
    Group(
      "rejected forbidden counted", "refused invalidCredentials",
      """
      status-403-json
      """),
    Group(
      "rejected providerRejected counted", "refused providerRejected",
      """
      status-404-json
      """),
    // The refresh token beside the access token is sound.
    Group(
      "rotated", "refused invalidResponse",
      """
      access-token-number access-token-null access-token-array access-token-object access-token-boolean
      access-token-empty access-token-absent access-token-newline access-token-long access-token-non-ascii
      access-token-space access-token-nul
      """),
    // The tokens are sound, whatever is beside them.
    Group(
      "ok", "ok",
      """
      json-bom json-xssi-prefix json-jsonp gzip deflate json-invalid-utf8 json-lone-surrogate json-raw-control
      json-trailing-garbage json-trailing-comma chunked-no-end huge-body-claimed
      """),
    Group(
      "unknown providerUnavailable", "transient providerUnavailable",
      """
      status-502-html status-504-empty
      """),
    Group(
      "ok", "ok",
      """
      refresh-token-null refresh-token-object refresh-token-empty refresh-token-absent user-number user-null
      user-array user-object user-boolean user-empty user-absent user-id-number user-id-null user-id-array
      user-id-object user-id-boolean user-id-empty user-id-absent scope-number scope-null scope-array scope-object
      scope-boolean scope-empty scope-absent refresh-token-space user-name-controls masked-phone-controls
      user-name-escapes masked-phone-escapes user-name-bidi masked-phone-bidi user-name-long masked-phone-long
      user-name-newlines masked-phone-newlines user-name-empty masked-phone-empty user-name-number
      masked-phone-number user-name-object masked-phone-object otp-flow-number otp-flow-null otp-flow-absent
      otp-flow-empty otp-flow-long masked-phone-full field expiry-negative expiry-zero expiry-huge expiry-string
      expiry-overflow expiry-int64-overflow
      expiry-int64-max expiry-null expiry-absent expiry-fraction expiry-boolean expiry-array expiry-garbage
      expiry-past expiry-far expiry-no-such-date expiry-epoch-ms wrong-content-type text-content-type
      no-content-type date-ahead date-behind date-garbage json-utf16 json-two-objects refresh-token-number
      ok delay-before-commit delay-after-commit
      close-after-reply reset-after-reply length-overflow length-and-chunked no-length chunked two-replies http10
      interim-replies header-with-controls folded-header set-cookie alt-svc gzip-garbage
      """),
    Group(
      "unknown invalidResponse", "unknown invalidResponse",
      """
      json-many-members banner-at-accept length-negative chunked-bad-size chunked-huge-size http09 bad-status-line
      status-line-1000 binary-garbage http2-preface interim-replies-many many-headers huge-header huge-body
      huge-body-chunked infinite-headers
      """),
    // Whether the reset is there before the request is sent, is a matter of chance; only then it is sent again.
    Group(
      "unknown networkUnavailable or ok", "unknown networkUnavailable or ok",
      """
      reset-at-accept
      """),
    Group(
      "challenge", "challenge",
      """
      challenge-instead
      """),
    Group(
      "ended", "refused invalidCredentials",
      """
      error-message-controls error-message-escapes error-message-bidi error-message-long error-message-newlines
      error-message-number error-message-object error-message-echo status-400-json status-400-empty
      status-401-json status-401-empty
      """),
    Group(
      "unknown networkUnavailable", "unknown networkUnavailable",
      """
      close-at-accept close-in-headers reset-before-reading close-before-reading reset-while-reading
      close-while-reading drop-before-commit drop-after-commit reset-before-commit reset-after-commit
      reset-half-way close-half-way reset-in-headers length-too-long chunked-truncated interim-only
      """),
    Group(
      "unknown timeout", "unknown timeout",
      """
      stall-at-accept stall-before-reading hold-before-commit hold-after-commit hold-then-drop hold-then-forget
      stall-half-way stall-in-headers drip drip-body drip-spaces
      """),
    Group(
      "transient providerUnavailable", "transient providerUnavailable",
      """
      status status-408-json status-408-empty status-408-html status-425-json status-425-empty status-425-html
      status-500-json status-500-empty status-500-html status-503-html
      status-503-retry-none status-503-retry-negative status-503-retry-garbage
      """),
    Group(
      "transient invalidResponse", "refused invalidCredentials",
      """
      status-400-html status-401-html status-403-html
      """),
    Group(
      "transient forbidden", "refused invalidCredentials",
      """
      status-403-empty
      """),
    Group(
      "transient providerRejected", "refused providerRejected",
      """
      status-404-empty
      """),
    Group(
      "transient invalidResponse", "refused providerRejected",
      """
      status-404-html status-405-html
      """),
    Group(
      "transient invalidResponse", "transient invalidResponse",
      """
      status-304-empty redirect-301 redirect-302 redirect-303 redirect-307 redirect-308 redirect-other-origin
      redirect-to-file redirect-loop redirect-no-location captive-portal-redirect
      """),
    Group(
      "transient networkUnavailable", "transient networkUnavailable",
      """
      status-407-html status-511-html
      """),
    Group(
      "transient providerUnavailable", "refused unsupportedByProvider",
      """
      status-501-empty
      """),
    Group(
      "transient providerUnavailable", "refused rateLimited",
      """
      status-429-retry-none status-429-retry-negative status-429-retry-garbage
      """),
    Group(
      "transient providerUnavailable after 2", "refused rateLimited after 2",
      """
      status-429-retry-seconds status-429-retry-date
      """),
    Group(
      "transient providerUnavailable after 3600", "refused rateLimited after 3600",
      """
      status-429-retry-absurd
      """),
    Group(
      "transient providerUnavailable after 2", "transient providerUnavailable after 2",
      """
      status-503-retry-seconds status-503-retry-date
      """),
    Group(
      "transient providerUnavailable after 3600", "transient providerUnavailable after 3600",
      """
      status-503-retry-absurd
      """),
    // They end in the middle, or have a refresh token: the one that was sent is spent.
    Group(
      "unknown invalidResponse", "refused invalidResponse",
      """
      refresh-token-array refresh-token-boolean refresh-token-newline refresh-token-long
      refresh-token-non-ascii refresh-token-nul json-deep json-duplicate-keys
      truncated-json length-too-short length-twice no-length-half
      """),
  ]

  /// Whether an outcome is the one of the table, or one of several.
  static func matches(_ words: String, _ expected: String) -> Bool {
    words == expected || expected.hasPrefix(words + " or ") || expected.hasSuffix(" or " + words)
  }

  /// A failure in the words of the table.
  static func words(_ failure: ProviderFailure?) -> String {
    switch failure {
    case nil: "ok"
    case .refused(let kind, nil, let wait, nil): "refused \(kind)" + words(wait)
    case .refused(let kind, _, _, _): "refused \(kind) with more"
    case .misconfigured(let fault): "misconfigured \(fault)"
    case .sessionEnded(.refreshRejected, nil, _): "ended"
    case .sessionEnded(let reason, _, _): "ended \(reason)"
    case .transient(let kind, let wait, _): "transient \(kind)" + words(wait)
    case .outcomeUnknown(let kind, let wait): "unknown \(kind)" + words(wait)
    case .rejected(let rejection): "rejected \(rejection.kind)\(rejection.isCounted ? " counted" : "")"
    case .rotated: "rotated"
    case .reauthenticationRequired: "reauthentication"
    case .challenged: "challenge"
    case .tokenRefused: "token refused"
    case .credentialMissing, .subjectMissing: "credential missing"
    case .unsupported: "unsupported"
    }
  }

  private static func words(_ wait: Duration?) -> String {
    // A date has whole seconds, of which one may just have passed.
    wait.map { " after \($0 == .seconds(1) ? 2 : $0.components.seconds)" } ?? ""
  }
}
