public import JSON

/// Returns the state of a profile's session, and what a login to the profile needs.
///
/// - Throws: unknownProfile.
public enum GetSession: BrokerMethod {
  public static let name = "getSession"

  public typealias Params = ProfileParams

  /// The public state of a session; no token is in it.
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
