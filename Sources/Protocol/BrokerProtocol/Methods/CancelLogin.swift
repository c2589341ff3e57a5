public import JSON

/// Cancels a login that waits for a one-time code or for a user action.
///
/// - Throws: flowNotFound, storeFailed, vaultLocked.
public enum CancelLogin: BrokerMethod {
  public static let name = "cancelLogin"

  /// Nothing is to be told.
  public typealias Result = Empty

  /// The parameters: one of the two handles.
  public struct Params: MethodParams, Equatable {
    /// The handle of a challenge; either this one or the other is given.
    public var otpFlowID: String?
    /// The handle of an action.
    public var loginFlowID: String?

    public init(otpFlowID: String? = nil, loginFlowID: String? = nil) {
      self.otpFlowID = otpFlowID
      self.loginFlowID = loginFlowID
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("otpFlowId", &otpFlowID, .word)
      try coder.optional("loginFlowId", &loginFlowID, .word)
    }
  }
}
