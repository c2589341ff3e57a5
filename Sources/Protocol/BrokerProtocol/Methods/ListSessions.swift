public import JSON

/// Returns the session of every configured profile.
public enum ListSessions: BrokerMethod {
  public static let name = "listSessions"

  public typealias Params = Empty

  public struct Result: ObjectCodable, Equatable {
    /// One session for each profile.
    public var sessions: [Session]

    public init(sessions: [Session]) {
      self.sessions = sessions
    }

    public static let blank = Result(sessions: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("sessions", &sessions)
    }
  }
}
