public import JSON
public import SecretMemory

/// Answers a challenge with one of the backup codes instead of the one-time code; spaces in it are ignored.
///
/// Lost replies and wrong codes are treated as verifyOtp treats them.
///
/// - Throws: profile, code, provider, backupCodeInvalid.
public enum VerifyBackupCode: BrokerMethod {
  public static let name = "verifyBackupCode"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The challenge's handle.
    public var otpFlowID: String
    /// The backup code; each works once.
    public var backupCode: Secret

    public init(otpFlowID: String, backupCode: Secret) {
      self.otpFlowID = otpFlowID
      self.backupCode = backupCode
    }

    public static let blank = Params(otpFlowID: "", backupCode: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("otpFlowId", &otpFlowID, .word)
      try coder.required("backupCode", &backupCode, .secret)
    }
  }
}
