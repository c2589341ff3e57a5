public import JSONRPC

/// Sends another one-time code, not sooner than the challenge allows.
public enum ResendOTP: BrokerMethod {
  /// The name on the wire.
  public static let name = "resendOtp"

  /// What the answer carries.
  public typealias Result = OTPChallenge

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["otpFlowId"]

    /// The challenge's handle.
    public var otpFlowID: String

    /// Params with the members that a caller gives.
    public init(otpFlowID: String) {
      self.otpFlowID = otpFlowID
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("otpFlowId", otpFlowID)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      otpFlowID = try node.required("otpFlowId").word()
    }
  }
}
