public import JSONRPC

/// What everybody may know of a profile's session: no token is in it.
public struct Session: Sendable, Equatable {
  /// Where a session stands.
  public enum State: String, Sendable, CaseIterable {
    /// Nobody is logged in.
    case signedOut
    /// A login waits for a one-time code, or for its user.
    case challengePending
    /// A token can be had.
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
  /// Where the session stands.
  public var state: State
  /// The provider's name for the account.
  public var userID: String?
  /// The account.
  public var user: User?
  /// What the access token is good for (RFC 6749, section 3.3).
  public var scopes: [String]
  /// When the access token ends.
  public var accessTokenExpiresAt: Timestamp?
  /// Whether the session can be refreshed.
  public var refreshTokenPresent: Bool
  /// When the refresh token ends, where the provider says so.
  public var refreshTokenExpiresAt: Timestamp?
  /// When the user last proved who they are (OpenID Connect Core, section 2, `auth_time`).
  public var authTime: Timestamp?
  /// When the tokens were last refreshed.
  public var lastRefreshAt: Timestamp?
  /// When the provider last accepted something of the session.
  public var lastValidatedAt: Timestamp?
  /// When the session ends unless somebody uses it; nil where it does not end by that.
  public var idleExpiresAt: Timestamp?
  /// Why a login is needed, where it is.
  public var loginRequiredReason: String?
  /// What has happened, as one plain sentence, where the reason leaves that open.
  public var loginRequiredMessage: String?
  /// Whether the newest tokens are not yet safely stored.
  public var storeDegraded: Bool?
  /// How far the provider's clock is ahead of this machine's, where that is so far that it may matter.
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

extension Session: JSONEncodable, JSONDecodable {
  /// Writes the members that are known.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("profile", profile)
      writer.member("provider", provider)
      writer.member("state", state.rawValue)
      writer.member(ifPresent: "userId", userID)
      writer.member(ifPresent: "user", user)
      writer.member("scopes", scopes)
      writer.member(ifPresent: "accessTokenExpiresAt", accessTokenExpiresAt)
      writer.member("refreshTokenPresent", refreshTokenPresent)
      writer.member(ifPresent: "refreshTokenExpiresAt", refreshTokenExpiresAt)
      writer.member(ifPresent: "authTime", authTime)
      writer.member(ifPresent: "lastRefreshAt", lastRefreshAt)
      writer.member(ifPresent: "lastValidatedAt", lastValidatedAt)
      writer.member(ifPresent: "idleExpiresAt", idleExpiresAt)
      writer.member(ifPresent: "loginRequiredReason", loginRequiredReason)
      writer.member(ifPresent: "loginRequiredMessage", loginRequiredMessage)
      writer.member(ifPresent: "storeDegraded", storeDegraded)
      writer.seconds("providerClockSkewSeconds", providerClockSkew)
    }
  }

  /// Reads a session.
  public init(from node: JSONNode) throws(JSONMismatch) {
    let stateNode = try node.required("state")
    guard let state = State(rawValue: try stateNode.string()) else { throw stateNode.mismatch("a known state") }
    self.init(
      profile: try ProfileName(from: try node.required("profile")),
      provider: try node.required("provider").string(), state: state)
    userID = try node.optional("userId", String.init(from:))
    user = try node.optional("user", User.init(from:))
    scopes = try node.optional("scopes", [String].init(from:)) ?? []
    accessTokenExpiresAt = try node.optional("accessTokenExpiresAt", Timestamp.init(from:))
    refreshTokenPresent = try node.optional("refreshTokenPresent", Bool.init(from:)) ?? false
    refreshTokenExpiresAt = try node.optional("refreshTokenExpiresAt", Timestamp.init(from:))
    authTime = try node.optional("authTime", Timestamp.init(from:))
    lastRefreshAt = try node.optional("lastRefreshAt", Timestamp.init(from:))
    lastValidatedAt = try node.optional("lastValidatedAt", Timestamp.init(from:))
    idleExpiresAt = try node.optional("idleExpiresAt", Timestamp.init(from:))
    loginRequiredReason = try node.optional("loginRequiredReason", String.init(from:))
    loginRequiredMessage = try node.optional("loginRequiredMessage", String.init(from:))
    storeDegraded = try node.optional("storeDegraded", Bool.init(from:))
    providerClockSkew = try node.optional("providerClockSkewSeconds") { node throws(JSONMismatch) in
      try node.difference()
    }
  }
}
