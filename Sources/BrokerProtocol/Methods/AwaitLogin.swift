public import JSONRPC

/// Waits until the user has done what a login asked of them at another device or in a browser.
public enum AwaitLogin: BrokerMethod {
  public static let name = "awaitLogin"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The login's handle.
    public var loginFlowID: String
    /// How long the caller waits; nil: until the login ends, however it does.
    public var timeout: Duration?

    public init(loginFlowID: String, timeout: Duration? = nil) {
      self.loginFlowID = loginFlowID
      self.timeout = timeout
    }

    public static let blank = Params(loginFlowID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("loginFlowId", &loginFlowID, .word)
      try coder.optional("timeoutSeconds", &timeout, .seconds)
    }
  }
}
