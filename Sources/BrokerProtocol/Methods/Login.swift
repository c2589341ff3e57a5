public import JSONRPC
public import SecretMemory

/// Begins a login with whatever credentials the provider takes.
public enum Login: BrokerMethod {
  /// The name on the wire.
  public static let name = "login"

  /// What the answer carries.
  public typealias Result = LoginResult

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = [
      "profile", "method", "email", "password", "phoneNumber", "refreshToken", "scopes",
    ]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// `password`, `deviceCode`, `browser`, `clientCredentials` or `refreshToken`.
    public var method: String?
    /// The account's e-mail address.
    public var email: String?
    /// The password.
    public var password: Secret?
    /// The phone number, for providers that log in with one.
    public var phoneNumber: String?
    /// A refresh token to take over.
    public var refreshToken: Secret?
    /// What the session shall be good for.
    public var scopes: [String]?

    /// Params with the members that a caller gives.
    public init(
      profile: ProfileName? = nil, method: String? = nil, email: String? = nil, password: Secret? = nil,
      phoneNumber: String? = nil, refreshToken: Secret? = nil, scopes: [String]? = nil
    ) {
      self.profile = profile
      self.method = method
      self.email = email
      self.password = password
      self.phoneNumber = phoneNumber
      self.refreshToken = refreshToken
      self.scopes = scopes
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member(ifPresent: "method", method)
        writer.member(ifPresent: "email", email)
        writer.member(revealing: "password", password)
        writer.member(ifPresent: "phoneNumber", phoneNumber)
        writer.member(revealing: "refreshToken", refreshToken)
        writer.member(ifPresent: "scopes", scopes)
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
      phoneNumber = try node.optional("phoneNumber") { node throws(JSONMismatch) in
        try node.string(atMost: ParameterLength.phoneNumber)
      }
      refreshToken = try node.optional("refreshToken") { node throws(JSONMismatch) in try node.token() }
      scopes = try node.optional("scopes", [String].init(from:))
    }
  }
}
