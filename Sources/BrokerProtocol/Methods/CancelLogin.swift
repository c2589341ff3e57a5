public import JSONRPC

/// Ends a login that waits for a code, or for something that the user does elsewhere.
public enum CancelLogin: BrokerMethod {
  /// The name on the wire.
  public static let name = "cancelLogin"

  /// Nothing is to be told.
  public typealias Result = Empty

  /// What a request carries: one of the two handles.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["otpFlowId", "loginFlowId"]

    /// The handle of a challenge.
    public var otpFlowID: String?
    /// The handle of an action.
    public var loginFlowID: String?

    /// Params with the handle that a caller gives.
    public init(otpFlowID: String? = nil, loginFlowID: String? = nil) {
      self.otpFlowID = otpFlowID
      self.loginFlowID = loginFlowID
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "otpFlowId", otpFlowID)
        writer.member(ifPresent: "loginFlowId", loginFlowID)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      otpFlowID = try node.optional("otpFlowId") { node throws(JSONMismatch) in try node.word() }
      loginFlowID = try node.optional("loginFlowId") { node throws(JSONMismatch) in try node.word() }
    }
  }
}
