public import JSON
public import SecretMemory

/// A second factor that its user is enrolling: it counts once `verifyOtp` has taken its first code.
public struct FactorEnrolment: Sendable, Equatable {
  /// The broker's handle, for `verifyOtp`.
  public var otpFlowID: String
  /// The secret for an authenticator application, as a URI that is shown as a QR code (`otpauth://totp/…`).
  public var otpauthURI: Secret
  /// When the enrolment ends unless a code confirms it.
  public var expiresAt: Timestamp

  public init(otpFlowID: String, otpauthURI: Secret, expiresAt: Timestamp) {
    self.otpFlowID = otpFlowID
    self.otpauthURI = otpauthURI
    self.expiresAt = expiresAt
  }
}

extension FactorEnrolment: ObjectCodable {
  public static let blank = FactorEnrolment(otpFlowID: "", otpauthURI: .empty, expiresAt: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("otpFlowId", &otpFlowID)
    try coder.required("otpauthUri", &otpauthURI, .secret)
    try coder.required("expiresAt", &expiresAt)
  }
}

extension FactorEnrolment {
  public static let notes = SchemaNotes(
    "FactorEnrolment", "A second factor that counts once verifyOtp has taken its first code.",
    members: [
      "otpFlowId": "The handle of the enrolment, for verifyOtp.",
      "otpauthUri": "The secret for an authenticator application, for a QR code; it is shown once.",
      "expiresAt": "When the enrolment ends unless a code confirms it.",
    ])
}
