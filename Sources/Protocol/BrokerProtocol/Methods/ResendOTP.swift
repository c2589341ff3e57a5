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

    /// One of the challenge's channels; nil means the one before.
    public var channel: OTPChallenge.Method?

    public init(otpFlowID: String, channel: OTPChallenge.Method? = nil) {
      self.otpFlowID = otpFlowID
      self.channel = channel
    }

    public static let blank = Params(otpFlowID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("otpFlowId", &otpFlowID, .word)
      try coder.optional("channel", &channel, .name("a known method"))
    }
  }
}

extension ResendOTP.Params {
  public static let notes = SchemaNotes(members: [
    "otpFlowId": "The handle of the challenge.",
    "channel": "By which the code is sent: one of the challenge's channels; as the last one where absent.",
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
            """),
        .init(
          "by e-mail instead", ["otpFlowId": #""example-flow""#, "channel": #""email""#],
          result:
            """
            {
              "otpFlowId": "example-flow",
              "profile": "default",
              "method": "email",
              "maskedDestination": "a•••@example.com",
              "otpLength": 6,
              "expiresAt": "2026-03-01T09:05:00Z",
              "nextResendAt": "2026-03-01T09:01:10Z",
              "attemptsRemaining": 5,
              "backupCodesAllowed": false,
              "channels": ["sms", "email"]
            }
            """),
      ])
  }
}
