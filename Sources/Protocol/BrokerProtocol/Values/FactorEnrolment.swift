public import JSON
public import SecretMemory

/// A second factor that its user is enrolling: it counts once `verifyOtp` has taken its first code.
public struct FactorEnrolment: Sendable, Equatable {
  /// The broker's handle, for `verifyOtp`.
  public var otpFlowID: String
  /// Where its codes come from.
  public var method: OTPChallenge.Method
  /// The secret for an authenticator application, as a URI that is shown as a QR code (`otpauth://totp/…`); nil where codes
  /// are sent.
  public var otpauthURI: Secret?
  /// Where the first code was sent, masked; nil where an application makes the codes.
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
    try coder.defaulted("otpLength", &otpLength)
    try coder.required("expiresAt", &expiresAt)
  }
}

extension FactorEnrolment {
  public static let notes = SchemaNotes(
    "FactorEnrolment", "A second factor that counts once verifyOtp has taken its first code.",
    members: [
      "otpFlowId": "The handle of the enrolment, for verifyOtp.",
      "method": "Where its codes come from: sent by sms or email, or made by an application (totp).",
      "otpauthUri": "The secret for an authenticator application, for a QR code; it is shown once.",
      "maskedDestination": "Where the first code was sent, masked.",
      "otpLength": .init(nil, .count),
      "expiresAt": "When the enrolment ends unless a code confirms it.",
    ])
}
