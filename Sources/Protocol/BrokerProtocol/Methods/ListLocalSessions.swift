public import JSON

/// Lists the sessions at the embedded provider that can still be refreshed, the newest 1000 at most.
///
/// They are the provider's: a profile of this broker has one of them, another broker may have others.
///
/// - Throws: directory, validationFailed.
public enum ListLocalSessions: BrokerMethod {
  public static let name = "listLocalSessions"

  /// How many sessions an answer has at most; a message has room for them.
  public static let largestCount = 1000

  public struct Params: MethodParams, Equatable {
    /// The account's identifier or e-mail address; all accounts where absent.
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
