public import JSON
public import SecretMemory

/// Answers a challenge with its one-time code.
public enum VerifyOTP: BrokerMethod {
  public static let name = "verifyOtp"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The challenge's handle.
    public var otpFlowID: String
    /// The code.
    public var code: Secret

    public init(otpFlowID: String, code: Secret) {
      self.otpFlowID = otpFlowID
      self.code = code
    }

    public static let blank = Params(otpFlowID: "", code: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("otpFlowId", &otpFlowID, .word)
      try coder.required("code", &code, .secret)
    }
  }
}

extension VerifyOTP.Params {
  public static let notes = SchemaNotes(members: [
    "otpFlowId": "The handle of the challenge."
  ])
}

extension VerifyOTP {
  public static var document: MethodDocument {
    MethodDocument(
      "Answers a challenge with its one-time code; blanks and dashes in it are ignored.",
      details:
        """
        After a lost reply the code may be used up: the error has retryable false and nextAction login, and the \
        login is over. Wrong codes are counted for each account and day over all logins; where none is left, and \
        after the last code of a login, tooManyAttempts has retryAfterSeconds.
        """,
      result: "login",
      errors: ErrorKind.ofProfile + ErrorKind.ofCode + ErrorKind.ofProvider + [.otpInvalid],
      examples: [
        .init(
          "the right code", ["otpFlowId": #""example-flow""#, "code": #""000000""#],
          result:
            """
            {
              "status": "authenticated",
              "session": {
                "profile": "default",
                "provider": "local",
                "state": "authenticated",
                "userId": "u-7f3a",
                "user": {
                  "id": "u-7f3a",
                  "email": "ada@example.com",
                  "emailVerified": true,
                  "name": "Ada",
                  "phoneNumberMasked": "•••• 42"
                },
                "scopes": ["profile"],
                "accessTokenExpiresAt": "2026-03-01T09:15:00Z",
                "refreshTokenPresent": true,
                "refreshTokenExpiresAt": "2026-03-31T09:00:00Z",
                "authTime": "2026-03-01T09:00:00Z",
                "lastValidatedAt": "2026-03-01T09:00:00Z"
              }
            }
            """)
      ])
  }
}
