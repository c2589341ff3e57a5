public import JSONRPC
public import SecretMemory

/// Begins a trial of the provider of one profile: a login, and all that a broker does with a session, to its end.
///
/// The session is the trial's own. It is kept nowhere, nobody is told of it, and that of the profile is left alone. The
/// trial goes on by itself; ``ContinueTrial`` asks how far it came, and one that nobody asks about ends soon.
public enum TryProvider: BrokerMethod {
  /// The name on the wire.
  public static let name = "tryProvider"

  /// What the answer carries.
  public typealias Result = ProviderTrialState

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = [
      "profile", "method", "email", "password", "refreshToken", "wrongPassword", "reuse",
    ]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// How to log in, as at `login`.
    public var method: String?
    /// The account's e-mail address.
    public var email: String?
    /// The password.
    public var password: Secret?
    /// A refresh token to take over.
    public var refreshToken: Secret?
    /// Whether a password that is wrong is tried first: some providers lock accounts for it.
    public var triesWrongPassword: Bool
    /// Whether a refresh token that was spent is tried once more: that may end every session of its family.
    public var replaysToken: Bool

    /// Params with the members that a caller gives.
    public init(
      profile: ProfileName? = nil, method: String? = nil, email: String? = nil, password: Secret? = nil,
      refreshToken: Secret? = nil, triesWrongPassword: Bool = false, replaysToken: Bool = false
    ) {
      self.profile = profile
      self.method = method
      self.email = email
      self.password = password
      self.refreshToken = refreshToken
      self.triesWrongPassword = triesWrongPassword
      self.replaysToken = replaysToken
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member(ifPresent: "method", method)
        writer.member(ifPresent: "email", email)
        writer.member(revealing: "password", password)
        writer.member(revealing: "refreshToken", refreshToken)
        if triesWrongPassword { writer.member("wrongPassword", true) }
        if replaysToken { writer.member("reuse", true) }
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      method = try node.optional("method") { node throws(JSONMismatch) in try node.word() }
      email = try node.optional("email") { node throws(JSONMismatch) in
        try node.string(atMost: ParameterLength.email)
      }
      password = try node.optional("password") { node throws(JSONMismatch) in try node.secret() }
      refreshToken = try node.optional("refreshToken") { node throws(JSONMismatch) in try node.token() }
      triesWrongPassword = try node.optional("wrongPassword", Bool.init(from:)) ?? false
      replaysToken = try node.optional("reuse", Bool.init(from:)) ?? false
    }
  }
}
