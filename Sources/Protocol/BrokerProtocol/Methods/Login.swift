public import JSON
public import SecretMemory

/// Starts a login with credentials that the provider accepts.
///
/// A session that it replaces is revoked at the provider, unless the provider revokes whole grants and the user is the
/// same. A connection that has not proven access to the state directory replaces a living session by its own user's
/// alone: another account and a refresh token are refused (reauthRequired with data.proof), and where the user is known
/// only at the end, what was issued is revoked and the session stays. Logins, and codes that they send, are limited for
/// each connection, account and provider (rateLimited, with retryAfterSeconds); joining an equal login under way is not
/// counted. What a login needs is in profiles of initialize and in login of getSession.
///
/// - Throws: profile, login, provider.
public enum Login: BrokerMethod {
  public static let name = "login"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The way to log in; where absent, the first that the provider offers and the credentials fit.
    public var method: String?
    /// The account's e-mail address.
    public var email: String?
    /// The password.
    public var password: Secret?
    /// The phone number, for providers that log in with one.
    public var phoneNumber: String?
    /// A refresh token to start the session with.
    public var refreshToken: Secret?
    /// The scopes to request for the session.
    public var scopes: [String]?
    /// A string of the caller's own, at most 4096 bytes, returned in the result, the challenge or action, and in the
    /// events login and loginFailed; no secret belongs here.
    public var clientContext: String?

    public init(
      profile: ProfileName? = nil, method: String? = nil, email: String? = nil, password: Secret? = nil,
      phoneNumber: String? = nil, refreshToken: Secret? = nil, scopes: [String]? = nil, clientContext: String? = nil
    ) {
      self.profile = profile
      self.method = method
      self.email = email
      self.password = password
      self.phoneNumber = phoneNumber
      self.refreshToken = refreshToken
      self.scopes = scopes
      self.clientContext = clientContext
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("method", &method, .word(of: LoginMethod.allCases.map { $0.rawValue }))
      try coder.optional("email", &email, .text(atMost: ParameterLength.email))
      try coder.optional("password", &password, .secret)
      try coder.optional("phoneNumber", &phoneNumber, .text(atMost: ParameterLength.phoneNumber))
      try coder.optional("refreshToken", &refreshToken, .token)
      try coder.optional("scopes", &scopes)
      try coder.optional("clientContext", &clientContext, .text(atMost: ParameterLength.clientContext))
    }
  }
}
