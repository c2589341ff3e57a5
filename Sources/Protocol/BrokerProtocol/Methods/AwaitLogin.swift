public import JSON

/// Waits until the user has completed a login at another device or in a browser.
///
/// - Throws: profile, provider, flowNotFound, otpExpired, consentDenied, accessDenied, reauthRequired, storeFailed,
/// deadlineExceeded.
public enum AwaitLogin: BrokerMethod {
  public static let name = "awaitLogin"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The handle of the action.
    public var loginFlowID: String
    /// How long the caller waits; until the login is over where absent.
    ///
    /// The login continues after it.
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
