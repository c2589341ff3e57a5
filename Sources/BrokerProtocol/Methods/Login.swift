public import JSON
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

extension Login.Params {
  public static let notes = SchemaNotes(members: [
    "profile": .profile,
    "method": .init(
      "The first that the provider offers and the credentials fit, where absent.",
      .words(LoginMethod.allCases.map(\.rawValue))),
    "refreshToken": "One to take over.",
    "scopes": "What the session shall be good for.",
  ])
}

extension Login {
  public static var document: MethodDocument {
    MethodDocument(
      "Begins a login with whatever credentials the provider takes.",
      details:
        """
        A session that it replaces is revoked at the provider, unless the provider revokes whole grants and the user \
        is the same. Logins, and codes that they send, are limited for each connection, account and provider \
        (rateLimited, with retryAfterSeconds); what shares an equal login costs nothing.
        """,
      result: "login",
      errors: ErrorKind.ofProfile + ErrorKind.ofLogin + ErrorKind.ofProvider,
      examples: [
        .init(
          "a code is wanted", ["email": #""ada@example.com""#, "password": #""example-password""#],
          result:
            """
            {
              "status": "otpRequired",
              "requires2FA": true,
              "challenge": {
                "otpFlowId": "example-flow",
                "profile": "default",
                "method": "sms",
                "maskedDestination": "•••• 42",
                "otpLength": 6,
                "expiresAt": "2026-03-01T09:05:00Z",
                "nextResendAt": "2026-03-01T09:00:30Z",
                "attemptsRemaining": 5,
                "backupCodesAllowed": false
              }
            }
            """),
        .init(
          "no code is wanted",
          [
            "method": #""password""#,
            "email": #""ada@example.com""#,
            "password": #""example-password""#,
            "scopes": #"["profile"]"#,
          ],
          result:
            """
            {
              "status": "authenticated",
              "session": {
                "profile": "default",
                "provider": "local",
                "state": "authenticated",
                "userId": "u-7f3a",
                "user": {
                  "id": "u-7f3a",
                  "email": "ada@example.com",
                  "emailVerified": true,
                  "name": "Ada",
                  "phoneNumberMasked": "•••• 42"
                },
                "scopes": ["profile"],
                "accessTokenExpiresAt": "2026-03-01T09:15:00Z",
                "refreshTokenPresent": true,
                "refreshTokenExpiresAt": "2026-03-31T09:00:00Z",
                "authTime": "2026-03-01T09:00:00Z",
                "lastValidatedAt": "2026-03-01T09:00:00Z"
              }
            }
            """),
      ])
  }
}
