public import JSONRPC
public import SecretMemory

/// Answers a challenge with its one-time code.
public enum VerifyOTP: BrokerMethod {
  /// The name on the wire.
  public static let name = "verifyOtp"

  /// What the answer carries.
  public typealias Result = LoginResult

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["otpFlowId", "code"]

    /// The challenge's handle.
    public var otpFlowID: String
    /// The code.
    public var code: Secret

    /// Params with the members that a caller gives.
    public init(otpFlowID: String, code: Secret) {
      self.otpFlowID = otpFlowID
      self.code = code
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("otpFlowId", otpFlowID)
        writer.member(revealing: "code", code)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      otpFlowID = try node.required("otpFlowId").word()
      code = try node.required("code").secret()
    }
  }
}
