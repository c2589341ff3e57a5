public import JSON
public import SecretMemory

/// An access token as it is handed to a client (RFC 6750, RFC 9449).
public struct AccessToken: Sendable, Equatable {
  /// The token itself.
  public var accessToken: Secret
  /// The token type (RFC 6749, section 7.1): `Bearer`, or `DPoP` for one that is bound to a key: each request with it needs
  /// a proof of its own (createProof); or the scheme that the configuration names for the profile's secret.
  public var tokenType: String
  /// The field of a request that carries it, where it is a secret of the configuration; nil for `Authorization`.
  ///
  /// That field has the type in front of the token; any other one has the token alone.
  public var header: String?
  /// When it expires; nil where the provider gives no lifetime.
  public var expiresAt: Timestamp?
  /// The granted scopes, as the provider names them.
  public var scopes: [String]
  /// The audience, where one was requested.
  public var audience: String?
  /// The profile that it belongs to.
  public var profile: ProfileName
  /// A short keyed hash of the token: equal if and only if the token is equal.
  public var tokenID: String
  /// Whether the provider cannot be reached, as the session's state `offline` says.
  public var isOffline: Bool
  /// Whether more remaining lifetime was wanted than the provider's tokens can be relied on to have.
  public var isMinValidityCapped: Bool
  /// The entry of the configuration that the address belongs to, where one was asked for.
  public var target: GrantedTarget?

  public init(
    accessToken: Secret, expiresAt: Timestamp?, scopes: [String], profile: ProfileName, tokenID: String,
    audience: String? = nil, isOffline: Bool = false, isMinValidityCapped: Bool = false,
    tokenType: String = "Bearer", header: String? = nil, target: GrantedTarget? = nil
  ) {
    self.tokenType = tokenType
    self.header = header
    self.accessToken = accessToken
    self.expiresAt = expiresAt
    self.scopes = scopes
    self.audience = audience
    self.profile = profile
    self.tokenID = tokenID
    self.isOffline = isOffline
    self.isMinValidityCapped = isMinValidityCapped
    self.target = target
  }
}

/// Written by hand: this is in every answer to `getAccessToken`, and some of its members are unlike those of other types.
extension AccessToken: JSONEncodable, JSONDecodable {
  /// Writes the token in clear: only for the answer to the client that asked.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member(revealing: "accessToken", accessToken)
      writer.member("tokenType", tokenType)
      writer.member(ifPresent: "header", header)
      writer.key("expiresAt")
      if let expiresAt { expiresAt.encode(to: &writer) } else { writer.null() }
      writer.member("scopes", scopes)
      writer.member(ifPresent: "audience", audience)
      writer.member("profile", profile)
      writer.member("tokenId", tokenID)
      if isMinValidityCapped { writer.member("minValidityCapped", true) }
      if isOffline { writer.member("offline", true) }
      writer.member(ifPresent: "target", target)
    }
  }

  /// Reads a token into the locked arena.
  public init(from node: JSONNode) throws(JSONMismatch) {
    accessToken = try node.required("accessToken").token()
    tokenType = try node.optional("tokenType", String.init(from:)) ?? "Bearer"
    header = try node.optional("header", String.init(from:))
    expiresAt = try node.optional("expiresAt", Timestamp.init(from:))
    scopes = try node.optional("scopes", [String].init(from:)) ?? []
    audience = try node.optional("audience", String.init(from:))
    profile = try ProfileName(from: try node.required("profile"))
    tokenID = try node.required("tokenId").string()
    isOffline = try node.optional("offline", Bool.init(from:)) ?? false
    isMinValidityCapped = try node.optional("minValidityCapped", Bool.init(from:)) ?? false
    target = try node.optional("target", GrantedTarget.init(from:))
  }
}
