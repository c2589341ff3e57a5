public import JSON

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

extension AwaitLogin.Params {
  public static let notes = SchemaNotes(members: [
    "loginFlowId": "The handle of the action.",
    "timeoutSeconds": "How long the caller waits; until the login ends, where absent. The login goes on after it.",
  ])
}

extension AwaitLogin {
  public static var document: MethodDocument {
    MethodDocument(
      "Waits until the user has done what a login asked of them at another device or in a browser.",
      result: "login",
      errors: ErrorKind.ofProfile + ErrorKind.ofProvider + [
        .flowNotFound, .otpExpired, .consentDenied, .accessDenied, .storeFailed, .deadlineExceeded,
      ],
      examples: [
        .init(
          "the user has agreed", ["loginFlowId": #""example-login""#, "timeoutSeconds": "60"],
          result:
            """
            {
              "status": "authenticated",
              "session": {
                "profile": "default",
                "provider": "oidc",
                "state": "authenticated",
                "userId": "u-7f3a",
                "user": {"id": "u-7f3a", "email": "ada@example.com"},
                "scopes": ["openid"],
                "accessTokenExpiresAt": "2026-03-01T09:15:00Z",
                "refreshTokenPresent": true,
                "authTime": "2026-03-01T09:00:00Z",
                "lastValidatedAt": "2026-03-01T09:00:00Z"
              }
            }
            """)
      ])
  }
}
