public import JSON

/// Sends another one-time code, not sooner than the challenge allows.
///
/// - Throws: profile, provider, flowNotFound, otpExpired, resendTooSoon, tooManyAttempts, captchaRequired.
public enum ResendOTP: BrokerMethod {
  public static let name = "resendOtp"
  // The last code may come with it.
  public static let mayCarrySecret = true

  public typealias Result = OTPChallenge

  public struct Params: MethodParams, Equatable {
    /// The challenge's handle.
    public var otpFlowID: String

    /// By which the code is sent: one of the challenge's channels; as the last one where absent.
    public var channel: OTPChallenge.Method?

    public init(otpFlowID: String, channel: OTPChallenge.Method? = nil) {
      self.otpFlowID = otpFlowID
      self.channel = channel
    }

    public static let blank = Params(otpFlowID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("otpFlowId", &otpFlowID, .word)
      try coder.optional("channel", &channel, .name("a known method"))
    }
  }
}
