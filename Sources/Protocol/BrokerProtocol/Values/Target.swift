public import JSON

/// A server, or a part of one, and the token that belongs to it: one entry of the configuration's `targets`.
public struct Target: Sendable, Equatable {
  /// The form in which a token is sent to a server over HTTP.
  public enum Scheme: String, Sendable, CaseIterable {
    /// As a bearer token (RFC 6750).
    case bearer = "Bearer"
    /// As the password of basic authentication (RFC 7617).
    case basic = "Basic"
  }

  /// The prefix of the addresses that it applies to: scheme, host, port and path, as configured.
  public var url: String
  /// The profile whose token it is.
  public var profile: ProfileName
  /// The user name that goes with the token; the tool's own default where absent.
  public var username: String?
  /// The scopes that the token must have; those of the session where absent.
  public var scopes: [String]?
  /// The audience of the token; that of the session's own token where absent.
  public var audience: String?
  /// The form in which the token is sent over HTTP; the tool's best one where absent.
  public var scheme: Scheme?

  public init(
    url: String, profile: ProfileName, username: String? = nil, scopes: [String]? = nil, audience: String? = nil,
    scheme: Scheme? = nil
  ) {
    self.url = url
    self.profile = profile
    self.username = username
    self.scopes = scopes
    self.audience = audience
    self.scheme = scheme
  }
}

extension Target: ObjectCodable {
  public static let blank = Target(url: "", profile: .default)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("url", &url)
    try coder.required("profile", &profile)
    try coder.optional("username", &username)
    try coder.optional("scopes", &scopes)
    try coder.optional("audience", &audience)
    try coder.optional("scheme", &scheme, .name("a known scheme"))
  }
}

/// The entry of the configuration whose token it is.
///
/// A broker that does not know addresses answers without it, and with another token: a client goes by the prefix.
public struct GrantedTarget: ObjectCodable, Sendable, Equatable {
  /// The prefix of the addresses that the token is for, as configured.
  public var prefix: String
  /// The user name that goes with the token; the tool's own default where absent.
  public var username: String?
  /// The form in which the token is sent over HTTP; the tool's best one where absent.
  public var scheme: Target.Scheme?

  public static let blank = GrantedTarget(prefix: "")

  public init(prefix: String, username: String? = nil, scheme: Target.Scheme? = nil) {
    self.prefix = prefix
    self.username = username
    self.scheme = scheme
  }

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("prefix", &prefix)
    try coder.optional("username", &username)
    try coder.optional("scheme", &scheme, .name("a known scheme"))
  }
}
