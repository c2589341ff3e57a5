public import JSON

/// A one-time code that a login waits for.
public struct OTPChallenge: Sendable, Equatable {
  /// The channel by which the code reaches the user.
  public enum Method: String, Sendable, CaseIterable {
    /// A text message.
    case sms
    /// An e-mail.
    case email
    /// An authenticator application (RFC 6238).
    case totp
  }

  /// The broker's handle of the login; any client allowed on the profile may answer it.
  public var otpFlowID: String
  /// The profile that logs in.
  public var profile: ProfileName
  /// The channel by which the code reaches the user.
  public var method: Method
  /// The masked destination of the code.
  public var maskedDestination: String
  /// How many digits the code has.
  public var otpLength: Int
  /// When the code expires.
  public var expiresAt: Timestamp
  /// When another code may be asked for.
  public var nextResendAt: Timestamp
  /// How many more wrong codes are accepted.
  public var attemptsRemaining: Int
  /// Whether a backup code is accepted instead of the code.
  public var backupCodesAllowed: Bool
  /// The ways by which resendOtp can send another code; absent where there is no choice.
  public var channels: [Method] = []
  /// The parameter `clientContext` of the login that has begun it.
  public var clientContext: String?
  /// The connections that began the login.
  package var beginners = LoginBeginners()

  public init(
    otpFlowID: String, profile: ProfileName, method: Method, maskedDestination: String, otpLength: Int,
    expiresAt: Timestamp, nextResendAt: Timestamp, attemptsRemaining: Int, backupCodesAllowed: Bool,
    channels: [Method] = [], clientContext: String? = nil
  ) {
    self.otpFlowID = otpFlowID
    self.profile = profile
    self.method = method
    self.maskedDestination = maskedDestination
    self.otpLength = otpLength
    self.expiresAt = expiresAt
    self.nextResendAt = nextResendAt
    self.attemptsRemaining = attemptsRemaining
    self.backupCodesAllowed = backupCodesAllowed
    self.channels = channels
    self.clientContext = clientContext
  }
}

extension OTPChallenge: ObjectCodable {
  public static let blank = OTPChallenge(
    otpFlowID: "", profile: .default, method: .sms, maskedDestination: "", otpLength: 0, expiresAt: .epoch,
    nextResendAt: .epoch, attemptsRemaining: 0, backupCodesAllowed: false)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("otpFlowId", &otpFlowID)
    try coder.required("profile", &profile)
    try coder.required("method", &method, .name("a known method"))
    try coder.required("maskedDestination", &maskedDestination)
    try coder.required("otpLength", &otpLength, .count)
    try coder.required("expiresAt", &expiresAt)
    try coder.required("nextResendAt", &nextResendAt)
    try coder.required("attemptsRemaining", &attemptsRemaining, .count)
    try coder.required("backupCodesAllowed", &backupCodesAllowed)
    try coder.optional("channels", &channels, .list(of: .name("a known method")), absent: [])
    try coder.optional("clientContext", &clientContext)
  }
}
