public import JSONRPC

/// Gives a token that is good for a while, refreshing it first where it is not.
public enum GetAccessToken: BrokerMethod {
  /// The name on the wire.
  public static let name = "getAccessToken"

  /// What the answer carries.
  public typealias Result = AccessToken

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = [
      "profile", "minValiditySeconds", "scopes", "audience", "timeoutSeconds", "waitForLogin", "forceRefresh",
    ]

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

    /// How long a caller waits who does not say.
    private static let usualTimeout = Duration.seconds(25)

    /// Params with the members that a caller gives.
    public init(
      profile: ProfileName? = nil, minValidity: Duration? = nil, scopes: [String]? = nil,
      audience: String? = nil, timeout: Duration = .seconds(25), waitForLogin: Bool = false, forceRefresh: Bool = false
    ) {
      self.profile = profile
      self.minValidity = minValidity
      self.scopes = scopes
      self.audience = audience
      self.timeout = timeout
      self.waitForLogin = waitForLogin
      self.forceRefresh = forceRefresh
    }

    /// Writes the members that differ from what absence means: the plainest question is the fastest one.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.seconds("minValiditySeconds", minValidity)
        writer.member(ifPresent: "scopes", scopes)
        writer.member(ifPresent: "audience", audience)
        if timeout != Self.usualTimeout { writer.seconds("timeoutSeconds", timeout) }
        if waitForLogin { writer.member("waitForLogin", true) }
        if forceRefresh { writer.member("forceRefresh", true) }
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      minValidity = try node.optional("minValiditySeconds") { node throws(JSONMismatch) in try node.seconds() }
      scopes = try node.optional("scopes", [String].init(from:))
      audience = try node.optional("audience", String.init(from:))
      let limit = try node.optional("timeoutSeconds") { node throws(JSONMismatch) in try node.seconds() }
      timeout = limit ?? Self.usualTimeout
      waitForLogin = try node.optional("waitForLogin", Bool.init(from:)) ?? false
      forceRefresh = try node.optional("forceRefresh", Bool.init(from:)) ?? false
    }
  }
}
