public import JSON

/// Gives a token that is good for a while, refreshing it first where it is not.
public enum GetAccessToken: BrokerMethod {
  public static let name = "getAccessToken"

  public typealias Result = AccessToken

  public struct Params: MethodParams, Equatable {
    /// How long a caller waits who does not say.
    public static let standardTimeout = Duration.seconds(25)

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// How long the token must still live; nil means the profile's skew, 30 s unless configured.
    public var minValidity: Duration?
    /// What the token must be good for; nil or none means what the session is good for.
    public var scopes: [String]?
    /// Whom the token is for (RFC 8707); nil means as the session's own.
    public var audience: String?
    /// How long the caller waits.
    public var timeout: Duration
    /// Whether to wait for a login where one is needed.
    public var waitForLogin: Bool
    /// Whether only a new token will do.
    public var forceRefresh: Bool

    public init(
      profile: ProfileName? = nil, minValidity: Duration? = nil, scopes: [String]? = nil,
      audience: String? = nil, timeout: Duration = Self.standardTimeout,
      waitForLogin: Bool = false, forceRefresh: Bool = false
    ) {
      self.profile = profile
      self.minValidity = minValidity
      self.scopes = scopes
      self.audience = audience
      self.timeout = timeout
      self.waitForLogin = waitForLogin
      self.forceRefresh = forceRefresh
    }

    public static let blank = Params()

    @inlinable
    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("minValiditySeconds", &minValidity, .seconds)
      try coder.optional("scopes", &scopes)
      try coder.optional("audience", &audience)
      try coder.optional("timeoutSeconds", &timeout, .seconds, absent: Self.standardTimeout)
      try coder.optional("waitForLogin", &waitForLogin, absent: false)
      try coder.optional("forceRefresh", &forceRefresh, absent: false)
    }
  }
}

extension GetAccessToken.Params {
  public static let notes = SchemaNotes(members: [
    "profile": .profile,
    "minValiditySeconds":
      """
    How long it must still live; the profile's refreshSkewSeconds (30) where absent. One whose whole life is \
    shorter will do while it lives.
    """,
    "scopes":
      """
    What it must be good for; where the session's own token is, that is given, else another is asked for. At most \
    128 of at most 256 bytes.
    """,
    "audience":
      """
    Whom it is for (RFC 8707), by the provider's own name; absent: as the session's own token. At most 2048 bytes.
    """,
    "timeoutSeconds": "How long the caller waits.",
    "waitForLogin": "Whether to wait for a login where one is needed.",
    "forceRefresh": "Whether only a new token will do.",
  ])
}

extension GetAccessToken {
  public static var document: MethodDocument {
    MethodDocument(
      "Gives a token that is good for a while, refreshing it first where it is not.",
      result: "token",
      errors: ErrorKind.ofProfile + ErrorKind.ofSession + ErrorKind.ofProvider + [.insufficientScope],
      examples: [
        .init(
          "the usual call",
          result:
            """
            {
              "accessToken": "example-access-token",
              "tokenType": "Bearer",
              "expiresAt": "2026-03-01T09:15:00Z",
              "scopes": ["profile"],
              "profile": "default",
              "tokenId": "k3v9Qm2x"
            }
            """),
        .init(
          "the provider cannot be reached", ["minValiditySeconds": "600", "timeoutSeconds": "0.5"],
          result:
            """
            {
              "accessToken": "example-access-token",
              "tokenType": "Bearer",
              "expiresAt": "2026-03-01T09:15:00Z",
              "scopes": ["profile"],
              "profile": "default",
              "tokenId": "k3v9Qm2x",
              "offline": true
            }
            """),
        .init(
          "for another audience", ["scopes": #"["orders:read"]"#, "audience": #""https://orders.example.com""#],
          result:
            """
            {
              "accessToken": "example-access-token-3",
              "tokenType": "Bearer",
              "expiresAt": "2026-03-01T09:20:00Z",
              "scopes": ["orders:read"],
              "audience": "https://orders.example.com",
              "profile": "default",
              "tokenId": "p8LmT4sA"
            }
            """),
        .init(
          "a token without an end", ["profile": #""default""#],
          result:
            """
            {
              "accessToken": "example-access-token",
              "tokenType": "Bearer",
              "expiresAt": null,
              "scopes": ["profile"],
              "profile": "default",
              "tokenId": "k3v9Qm2x"
            }
            """),
      ])
  }
}
