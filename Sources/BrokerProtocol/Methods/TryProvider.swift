public import JSON
public import SecretMemory

/// Begins a trial of the provider of one profile: a login, and all that a broker does with a session, to its end.
///
/// The session is the trial's own. It is kept nowhere, nobody is told of it, and that of the profile is left alone. The
/// trial goes on by itself; ``ContinueTrial`` asks how far it came, and one that nobody asks about ends soon.
public enum TryProvider: BrokerMethod {
  public static let name = "tryProvider"

  public typealias Result = ProviderTrialState

  public struct Params: MethodParams, Equatable {
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

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("method", &method, .word)
      try coder.optional("email", &email, .text(atMost: ParameterLength.email))
      try coder.optional("password", &password, .secret)
      try coder.optional("refreshToken", &refreshToken, .token)
      try coder.optional("wrongPassword", &triesWrongPassword, absent: false)
      try coder.optional("reuse", &replaysToken, absent: false)
    }
  }
}

extension TryProvider.Params {
  public static let notes = SchemaNotes(members: [
    "profile": .profile,
    "method": "How to log in, as at login.",
    "email": "The account's e-mail address.",
    "password": "The password.",
    "refreshToken": "A refresh token to take over.",
    "wrongPassword": "Try a password that is wrong first; the provider may lock the account.",
    "reuse": "Try a refresh token that was spent once more; the provider may end all of the user's sessions.",
  ])
}

extension TryProvider {
  public static var document: MethodDocument {
    MethodDocument(
      """
      Begins a trial of the provider of one profile: a login, and all that a broker does with a session, to its \
      logout.
      """,
      details:
        """
        The session is the trial's own: it is kept nowhere, no event tells of it, and that of the profile is left \
        alone. The trial goes on by itself; continueTrial tells how far it came. One that nobody asks about for 30 s \
        is ended, its session first.
        """,
      result: "state",
      errors: [
        .accessDenied, .unknownProfile, .missingCredential, .unsupportedByProvider, .rateLimited, .tooManyAttempts,
      ],
      examples: [
        .init(
          "a trial with a password",
          [
            "profile": #""shop""#,
            "email": #""ann@example.com""#,
            "password": #""example password""#,
          ],
          result:
            """
            {"trialId": "example-trial", "findings": [], "waitsFor": "provider"}
            """)
      ])
  }
}
