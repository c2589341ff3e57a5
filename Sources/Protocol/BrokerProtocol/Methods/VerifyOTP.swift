public import JSON
public import SecretMemory

/// Answers a challenge with its one-time code, or confirms the enrolment of a second factor with its first one; spaces
/// and dashes in it are ignored.
///
/// After a lost reply the code may be used up: the error has retryable false and nextAction login, and the login is
/// over. Wrong codes are counted for each account and day over all logins; where none is left, and after the last code
/// of a login, tooManyAttempts has retryAfterSeconds. The first code of an enrolment is answered with the session that
/// began it.
///
/// - Throws: profile, code, provider, otpInvalid.
public enum VerifyOTP: BrokerMethod {
  public static let name = "verifyOtp"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The handle of the challenge, or of the enrolment that updateProfile has begun.
    public var otpFlowID: String
    /// The code.
    public var code: Secret

    public init(otpFlowID: String, code: Secret) {
      self.otpFlowID = otpFlowID
      self.code = code
    }

    public static let blank = Params(otpFlowID: "", code: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("otpFlowId", &otpFlowID, .word)
      try coder.required("code", &code, .secret)
    }
  }
}
