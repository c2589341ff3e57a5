public import JSON

/// Sends another one-time code, not sooner than the challenge allows.
public enum ResendOTP: BrokerMethod {
  public static let name = "resendOtp"
  // The last code may come with it.
  public static let mayCarrySecret = true

  public typealias Result = OTPChallenge

  public struct Params: MethodParams, Equatable {
    /// The challenge's handle.
    public var otpFlowID: String

    public init(otpFlowID: String) {
      self.otpFlowID = otpFlowID
    }

    public static let blank = Params(otpFlowID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("otpFlowId", &otpFlowID, .word)
    }
  }
}

extension ResendOTP.Params {
  public static let notes = SchemaNotes(members: [
    "otpFlowId": "The handle of the challenge."
  ])
}

extension ResendOTP {
  public static var document: MethodDocument {
    MethodDocument(
      "Sends another one-time code.",
      result: "challenge",
      errors: ErrorKind.ofProfile + ErrorKind.ofProvider + [
        .flowNotFound, .otpExpired, .resendTooSoon, .tooManyAttempts, .captchaRequired,
      ],
      examples: [
        .init(
          "after the cooldown", ["otpFlowId": #""example-flow""#],
          result:
            """
            {
              "otpFlowId": "example-flow",
              "profile": "default",
              "method": "sms",
              "maskedDestination": "•••• 42",
              "otpLength": 6,
              "expiresAt": "2026-03-01T09:05:00Z",
              "nextResendAt": "2026-03-01T09:01:10Z",
              "attemptsRemaining": 5,
              "backupCodesAllowed": false
            }
            """)
      ])
  }
}
