public import JSONRPC
public import SecretMemory

/// Begins a login with whatever credentials the provider takes.
public enum Login: BrokerMethod {
  public static let name = "login"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
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

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("method", &method, .word)
      try coder.optional("email", &email, .text(atMost: ParameterLength.email))
      try coder.optional("password", &password, .secret)
      try coder.optional("phoneNumber", &phoneNumber, .text(atMost: ParameterLength.phoneNumber))
      try coder.optional("refreshToken", &refreshToken, .token)
      try coder.optional("scopes", &scopes)
    }
  }
}
