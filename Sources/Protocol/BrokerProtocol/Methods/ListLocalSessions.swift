public import JSON

/// Lists the sessions at the embedded provider that can still be refreshed, the newest where there are too many for one
/// answer.
public enum ListLocalSessions: BrokerMethod {
  public static let name = "listLocalSessions"

  /// How many sessions an answer has at most; a message has room for them.
  public static let largestCount = 1000

  public struct Params: MethodParams, Equatable {
    /// The account's identifier or e-mail address; nil means all accounts.
    public var user: String?

    public init(user: String? = nil) { self.user = user }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("user", &user, .text(atMost: ParameterLength.email))
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The sessions, the newest first.
    public var sessions: [LocalSession]

    public init(sessions: [LocalSession]) { self.sessions = sessions }

    public static let blank = Result(sessions: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("sessions", &sessions)
    }
  }
}

extension ListLocalSessions.Params {
  public static let notes = SchemaNotes(members: [
    "user": "The account's identifier or e-mail address; all accounts where absent."
  ])
}

extension ListLocalSessions.Result {
  public static let notes = SchemaNotes(members: ["sessions": "The newest first."])
}

extension ListLocalSessions {
  public static var document: MethodDocument {
    MethodDocument(
      "Lists the sessions at the embedded provider that can still be refreshed, the newest \(largestCount) at most.",
      details: "They are the provider's: a profile of this broker has one of them, another broker may have others.",
      result: "sessions",
      errors: ErrorKind.ofDirectory + [.validationFailed],
      examples: [
        .init(
          "the sessions of one account", ["user": #""ada@example.com""#],
          result:
            """
            {
              "sessions": [
                {
                  "id": "example-session",
                  "user": "u-7f3a",
                  "scopes": ["profile"],
                  "createdAt": "2026-03-01T09:00:00Z",
                  "lastUsedAt": "2026-03-01T09:14:00Z",
                  "expiresAt": "2026-03-31T09:00:00Z",
                  "amr": ["pwd", "otp", "mfa"]
                }
              ]
            }
            """)
      ])
  }
}
