public import JSON

/// Waits until the user has completed a login at another device or in a browser.
public enum AwaitLogin: BrokerMethod {
  public static let name = "awaitLogin"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The login's handle.
    public var loginFlowID: String
    /// How long the caller waits; nil means until the login is over.
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

extension AwaitLogin.Params {
  public static let notes = SchemaNotes(members: [
    "loginFlowId": "The handle of the action.",
    "timeoutSeconds": "How long the caller waits; until the login is over where absent. The login continues after it.",
  ])
}

extension AwaitLogin {
  public static var document: MethodDocument {
    MethodDocument(
      "Waits until the user has completed a login at another device or in a browser.",
      result: "login",
      errors: ErrorKind.ofProfile + ErrorKind.ofProvider + [
        .flowNotFound, .otpExpired, .consentDenied, .accessDenied, .reauthRequired, .storeFailed, .deadlineExceeded,
      ],
      examples: [
        .init(
          "the user has approved the login", ["loginFlowId": #""example-login""#, "timeoutSeconds": "60"],
          result:
            """
            {
              "status": "authenticated",
              "session": \(SampleJSON.oidcSession)
            }
            """)
      ])
  }
}
