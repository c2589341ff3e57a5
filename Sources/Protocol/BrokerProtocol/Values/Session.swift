public import JSON

/// The public state of a profile's session: no token is in it.
public struct Session: Sendable, Equatable {
  /// The state of a session.
  public enum State: String, Sendable, CaseIterable {
    /// No user is logged in.
    case signedOut
    /// A login waits for a one-time code, or for its user.
    case challengePending
    /// A token is available.
    case authenticated
    /// A refresh is under way.
    case refreshing
    /// The provider cannot be reached; the access token may still be valid.
    case offline
    /// The session has ended: log in again.
    case expired
    /// The vault is locked.
    case locked
  }

  /// The profile.
  public var profile: ProfileName
  /// The provider's type, as in the configuration.
  public var provider: String
  /// The issuer of the tokens, where the login has found it and the configuration does not name it.
  public var issuer: String?
  /// The client that the tokens were issued to, where the configuration does not name it.
  public var clientID: String?
  /// The state of the session.
  public var state: State
  /// The provider's name for the account.
  public var userID: String?
  /// The account.
  public var user: User?
  /// The scopes of the access token (RFC 6749, section 3.3).
  public var scopes: [String]
  /// When the access token expires.
  public var accessTokenExpiresAt: Timestamp?
  /// Whether the session can be refreshed.
  public var refreshTokenPresent: Bool
  /// When the refresh token expires, where the provider says so.
  public var refreshTokenExpiresAt: Timestamp?
  /// When the user last proved who they are (OpenID Connect Core, section 2, `auth_time`).
  public var authTime: Timestamp?
  /// When the tokens were last refreshed.
  public var lastRefreshAt: Timestamp?
  /// When the provider last accepted something of the session.
  public var lastValidatedAt: Timestamp?
  /// When the session expires unless a client uses it; nil where it does not expire by that.
  public var idleExpiresAt: Timestamp?
  /// Why a login is needed, where it is.
  public var loginRequiredReason: String?
  /// The explanation, as one plain sentence, where the reason leaves that open.
  public var loginRequiredMessage: String?
  /// Whether the newest tokens are not yet safely stored.
  public var storeDegraded: Bool?
  /// How far the provider's clock is ahead of this machine's, by its last reply with tokens; only where it is more than
  /// 60 either way.
  public var providerClockSkew: Duration?

  /// A session of which nothing but its state is known yet.
  public init(profile: ProfileName, provider: String, state: State) {
    self.profile = profile
    self.provider = provider
    self.state = state
    scopes = []
    refreshTokenPresent = false
  }
}

extension Session: ObjectCodable {
  public static let blank = Session(profile: .default, provider: "", state: .signedOut)

  @inlinable
  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("profile", &profile)
    try coder.required("provider", &provider)
    try coder.optional("issuer", &issuer)
    try coder.optional("clientId", &clientID)
    try coder.required("state", &state, .name("a known state"))
    try coder.optional("userId", &userID)
    try coder.optional("user", &user)
    try coder.defaulted("scopes", &scopes)
    try coder.optional("accessTokenExpiresAt", &accessTokenExpiresAt)
    try coder.defaulted("refreshTokenPresent", &refreshTokenPresent)
    try coder.optional("refreshTokenExpiresAt", &refreshTokenExpiresAt)
    try coder.optional("authTime", &authTime)
    try coder.optional("lastRefreshAt", &lastRefreshAt)
    try coder.optional("lastValidatedAt", &lastValidatedAt)
    try coder.optional("idleExpiresAt", &idleExpiresAt)
    try coder.optional("loginRequiredReason", &loginRequiredReason)
    try coder.optional("loginRequiredMessage", &loginRequiredMessage)
    try coder.optional("storeDegraded", &storeDegraded)
    try coder.optional("providerClockSkewSeconds", &providerClockSkew, .difference)
  }
}
