public import JSON
public import SecretMemory

/// A second factor that its user is enrolling: it counts once `verifyOtp` has taken its first code.
public struct FactorEnrolment: Sendable, Equatable {
  /// The handle of the enrolment, for verifyOtp.
  public var otpFlowID: String
  /// The source of its codes: sent by sms or email, or made by an application (totp).
  public var method: OTPChallenge.Method
  /// The secret for an authenticator application, as a URI that is shown once, as a QR code (otpauth://totp/…); absent
  /// where codes are sent.
  public var otpauthURI: Secret?
  /// The masked destination of the first code; nil where an application makes the codes.
  public var maskedDestination: String?
  /// How many digits the code has.
  public var otpLength: Int
  /// When the enrolment ends unless a code confirms it.
  public var expiresAt: Timestamp

  public init(
    otpFlowID: String, method: OTPChallenge.Method = .totp, otpauthURI: Secret? = nil,
    maskedDestination: String? = nil, otpLength: Int = 6, expiresAt: Timestamp
  ) {
    self.otpFlowID = otpFlowID
    self.method = method
    self.otpauthURI = otpauthURI
    self.maskedDestination = maskedDestination
    self.otpLength = otpLength
    self.expiresAt = expiresAt
  }
}

extension FactorEnrolment: ObjectCodable {
  public static let blank = FactorEnrolment(otpFlowID: "", expiresAt: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("otpFlowId", &otpFlowID)
    try coder.defaulted("method", &method, .name("a known method"))
    try coder.optional("otpauthUri", &otpauthURI, .secret)
    try coder.optional("maskedDestination", &maskedDestination)
    try coder.defaulted("otpLength", &otpLength, .count)
    try coder.required("expiresAt", &expiresAt)
  }
}
