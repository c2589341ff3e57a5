public import JSON

/// Returns a valid access token, refreshing it first where necessary.
public enum GetAccessToken: BrokerMethod {
  public static let name = "getAccessToken"

  public typealias Result = AccessToken

  public struct Params: MethodParams, Equatable {
    /// How long a caller waits that gives no time.
    public static let standardTimeout = Duration.seconds(25)

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The address that the token is for, in the place of a profile: its target says whose token it is.
    public var url: String?
    /// The least remaining lifetime of the token; nil means the profile's skew, 30 s unless configured.
    public var minValidity: Duration?
    /// The scopes that the token must have; nil or none means those of the session.
    public var scopes: [String]?
    /// The audience or resource of the token (RFC 8707); nil means that of the session's own token.
    public var audience: String?
    /// How long the caller waits.
    public var timeout: Duration
    /// Whether to wait for a login where one is needed.
    public var waitForLogin: Bool
    /// Whether to refresh although the present token is still valid.
    public var forceRefresh: Bool

    public init(
      profile: ProfileName? = nil, url: String? = nil, minValidity: Duration? = nil, scopes: [String]? = nil,
      audience: String? = nil, timeout: Duration = Self.standardTimeout,
      waitForLogin: Bool = false, forceRefresh: Bool = false
    ) {
      self.profile = profile
      self.url = url
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
      try coder.optional("url", &url, .text(atMost: ParameterLength.url))
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
    "url":
      """
    The address of the server that the token is for, in the place of profile: its target in the configuration says whose \
    token it is, and for which scopes and audience where those are not given. The result has the target.
    """,
    "minValiditySeconds":
      """
    The least remaining lifetime; the profile's refreshSkewSeconds (30) where absent. More than 80 % of a \
    token's whole lifetime cannot be relied on: the token is then returned until it is renewed, with minValidityCapped.
    """,
    "scopes":
      """
    The scopes that the token must have; where the session's own token lacks one, another token is requested. At most \
    128 of at most 256 bytes.
    """,
    "audience":
      """
    The audience or resource (RFC 8707), by the provider's own name; that of the session's own token where absent. At \
    most 2048 bytes.
    """,
    "timeoutSeconds": "How long the caller waits.",
    "waitForLogin": "Whether to wait for a login where one is needed.",
    "forceRefresh": "Whether to refresh although the present token is still valid.",
  ])
}

extension GetAccessToken {
  public static var document: MethodDocument {
    MethodDocument(
      "Returns a valid access token, refreshing it first where necessary.",
      result: "token",
      errors: ErrorKind.ofProfile + ErrorKind.ofSession + ErrorKind.ofProvider
        + [.insufficientScope, .unknownTarget],
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
          "for a server", ["url": #""https://git.example.com/acme/tool.git""#],
          result:
            """
            {
              "accessToken": "example-access-token",
              "tokenType": "Bearer",
              "expiresAt": "2026-03-01T09:15:00Z",
              "scopes": ["profile"],
              "profile": "default",
              "tokenId": "k3v9Qm2x",
              "target": {"prefix": "https://git.example.com/acme", "username": "oauth2"}
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
          "more is wanted than the provider's tokens last", ["minValiditySeconds": "3600"],
          result:
            """
            {
              "accessToken": "example-access-token",
              "tokenType": "Bearer",
              "expiresAt": "2026-03-01T09:15:00Z",
              "scopes": ["profile"],
              "profile": "default",
              "tokenId": "k3v9Qm2x",
              "minValidityCapped": true
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
          "a token without an expiry", ["profile": #""default""#],
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
