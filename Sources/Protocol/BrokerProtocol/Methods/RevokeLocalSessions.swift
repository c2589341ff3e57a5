public import JSON

/// Revokes one session at the embedded provider, all of an account, or all there are.
///
/// One of the parameters must be given; user and session may be given together, all stands alone. A session that is
/// unknown, or not of that account, is validationFailed with session among the fields; one that has ended is revoked no
/// more.
///
/// - Throws: directory, validationFailed.
public enum RevokeLocalSessions: BrokerMethod {
  public static let name = "revokeLocalSessions"

  public struct Params: MethodParams, Equatable {
    /// The account's identifier or e-mail address: all of its sessions, unless session names one.
    public var user: String?
    /// The identifier of one session.
    public var session: String?

    /// Whether the sessions of every account are meant, as after an incident.
    public var all: Bool

    public init(user: String? = nil, session: String? = nil, all: Bool = false) {
      self.user = user
      self.session = session
      self.all = all
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("user", &user, .text(atMost: ParameterLength.email))
      try coder.optional("session", &session, .word)
      try coder.optional("all", &all, absent: false)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// How many sessions were revoked by this call.
    public var revoked: Int

    public init(revoked: Int) { self.revoked = revoked }

    public static let blank = Result(revoked: 0)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("revoked", &revoked, .count)
    }
  }
}
