public import JSON
public import SecretMemory

/// Completes a login in a browser by the address that the browser ended at, where that browser runs on another machine.
///
/// It is checked as if the browser had come back by itself: the state, the issuer and the place must be this login's. An
/// address that is not this login's changes nothing and spends nothing; the tenth ends the login. One with an error and
/// the right state ends it with that error. Whichever comes first counts, the browser or the address. Only the
/// connection that began the login and administrative ones may; others are answered reauthRequired.
///
/// - Throws: profile, provider, flowNotFound, otpExpired, consentDenied, accessDenied, reauthRequired, tooManyAttempts,
/// storeFailed.
public enum CompleteLogin: BrokerMethod {
  public static let name = "completeLogin"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The handle of the action.
    public var loginFlowID: String
    /// The whole address that the browser ended at, or its query; blanks and line ends in it are ignored.
    public var redirectURL: Secret

    public init(loginFlowID: String, redirectURL: Secret) {
      self.loginFlowID = loginFlowID
      self.redirectURL = redirectURL
    }

    public static let blank = Params(loginFlowID: "", redirectURL: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("loginFlowId", &loginFlowID, .word)
      try coder.required("redirectUrl", &redirectURL, .secret)
    }
  }
}
