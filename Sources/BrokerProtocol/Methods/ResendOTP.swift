public import JSONRPC

/// Sends another one-time code, not sooner than the challenge allows.
public enum ResendOTP: BrokerMethod {
  public static let name = "resendOtp"
  // The last code may come with it.
  public static let mayCarrySecret = true

  public typealias Result = OTPChallenge

  public struct Params: MethodParams, Equatable {
    /// The challenge's handle.
    public var otpFlowID: String

    public init(otpFlowID: String) {
      self.otpFlowID = otpFlowID
    }

    public static let blank = Params(otpFlowID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("otpFlowId", &otpFlowID, .word)
    }
  }
}
