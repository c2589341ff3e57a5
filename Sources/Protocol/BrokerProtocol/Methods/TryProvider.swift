public import JSON
public import SecretMemory

/// Starts a trial of the provider of one profile: a login, then everything that a broker does with a session, up to its
/// logout.
///
/// The session belongs to the trial: it is not stored, no event reports it, and the profile's session is left alone.
/// The trial runs on its own; continueTrial returns its progress. A trial that is not asked about for 30 s ends, its
/// session first.
///
/// - Throws: accessDenied, unknownProfile, missingCredential, unsupportedByProvider, rateLimited, tooManyAttempts.
public enum TryProvider: BrokerMethod {
  public static let name = "tryProvider"

  public typealias Result = ProviderTrialState

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The login method, as at `login`.
    public var method: String?
    /// The account's e-mail address.
    public var email: String?
    /// The password.
    public var password: Secret?
    /// The account's phone number, where the provider knows it by that.
    public var phoneNumber: String?
    /// A refresh token to start the session with.
    public var refreshToken: Secret?
    /// Whether to try a wrong password first; the provider may lock the account.
    public var triesWrongPassword: Bool
    /// Whether to use a spent refresh token again; the provider may end all of the user's sessions.
    public var replaysToken: Bool

    public init(
      profile: ProfileName? = nil, method: String? = nil, email: String? = nil, password: Secret? = nil,
      phoneNumber: String? = nil, refreshToken: Secret? = nil, triesWrongPassword: Bool = false,
      replaysToken: Bool = false
    ) {
      self.profile = profile
      self.method = method
      self.email = email
      self.password = password
      self.phoneNumber = phoneNumber
      self.refreshToken = refreshToken
      self.triesWrongPassword = triesWrongPassword
      self.replaysToken = replaysToken
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("method", &method, .word)
      try coder.optional("email", &email, .text(atMost: ParameterLength.email))
      try coder.optional("password", &password, .secret)
      try coder.optional("phoneNumber", &phoneNumber, .text(atMost: ParameterLength.phoneNumber))
      try coder.optional("refreshToken", &refreshToken, .token)
      try coder.optional("wrongPassword", &triesWrongPassword, absent: false)
      try coder.optional("reuse", &replaysToken, absent: false)
    }
  }
}
