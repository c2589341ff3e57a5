public import JSONRPC

/// Waits until the user has done what a login asked of them at another device or in a browser.
public enum AwaitLogin: BrokerMethod {
  /// The name on the wire.
  public static let name = "awaitLogin"

  /// What the answer carries.
  public typealias Result = LoginResult

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["loginFlowId", "timeoutSeconds"]

    /// The login's handle.
    public var loginFlowID: String
    /// How long the caller waits; nil: until the login ends, however it does.
    public var timeout: Duration?

    /// Params with the members that a caller gives.
    public init(loginFlowID: String, timeout: Duration? = nil) {
      self.loginFlowID = loginFlowID
      self.timeout = timeout
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("loginFlowId", loginFlowID)
        writer.seconds("timeoutSeconds", timeout)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      loginFlowID = try node.required("loginFlowId").word()
      timeout = try node.optional("timeoutSeconds") { node throws(JSONMismatch) in try node.seconds() }
    }
  }
}
