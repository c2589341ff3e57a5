public import JSONRPC
public import SecretMemory

/// Answers a challenge with its one-time code.
public enum VerifyOTP: BrokerMethod {
  public static let name = "verifyOtp"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The challenge's handle.
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
