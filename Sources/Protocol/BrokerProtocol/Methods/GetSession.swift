public import JSON

/// Returns the state of a profile's session, and what a login to the profile needs.
public enum GetSession: BrokerMethod {
  public static let name = "getSession"

  public typealias Params = ProfileParams

  public struct Result: ObjectCodable, Equatable {
    /// The state of the session.
    public var session: Session
    /// The ways to log in, the one that is taken where a request names none first; empty from a broker that does not say.
    public var login: [LoginForm]

    public init(session: Session, login: [LoginForm] = []) {
      self.session = session
      self.login = login
    }

    public static let blank = Result(session: .blank)

    /// The session's own members, and the rest beside them.
    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try session.code(&coder)
      try coder.defaulted("login", &login)
    }
  }
}

extension GetSession.Result {
  public static let notes: SchemaNotes = {
    var notes = Session.notes
    notes.name = nil
    notes.members["login"] =
      "The ways to log in; the first that the given credentials fit is taken where a login names none."
    return notes
  }()
}

extension GetSession {
  public static var document: MethodDocument {
    MethodDocument(
      "Returns the state of a session, and what a login needs.",
      result: "session",
      errors: [.unknownProfile],
      examples: [
        .init("signed out", ["profile": #""default""#], result: SampleJSON.withLogin(SampleJSON.signedOut)),
        .init("signed in", result: SampleJSON.withLogin(SampleJSON.session)),
      ])
  }
}
