public import JSON

/// Returns a valid access token, refreshing it first where necessary.
///
/// - Throws: profile, session, provider, insufficientScope, unknownTarget, consentDenied.
public enum GetAccessToken: BrokerMethod {
  public static let name = "getAccessToken"

  public typealias Result = AccessToken

  public struct Params: MethodParams, Equatable {
    /// How long a caller waits that gives no time.
    public static let standardTimeout = Duration.seconds(25)

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The address of the server that the token is for, in the place of profile: its target in the configuration says
    /// whose token it is, and for which scopes and audience where those are not given.
    ///
    /// The result has the target.
    public var url: String?
    /// The least remaining lifetime; the profile's refreshSkewSeconds (30) where absent.
    ///
    /// More than 80 % of a token's whole lifetime cannot be relied on: the token is then returned until it is renewed,
    /// with minValidityCapped.
    public var minValidity: Duration?
    /// The scopes that the token must have; where the session's own token lacks one, another token is requested.
    ///
    /// At most 128 of at most 256 bytes.
    public var scopes: [String]?
    /// The audience or resource (RFC 8707), by the provider's own name; that of the session's own token where absent.
    ///
    /// At most 2048 bytes.
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
