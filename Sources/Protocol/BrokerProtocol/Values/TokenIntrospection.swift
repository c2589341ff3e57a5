public import JSON

/// The introspection of a token by the embedded provider (RFC 7662, section 2.2).
public struct TokenIntrospection: Sendable, Equatable {
  /// Whether the token is good now; of one that is not, nothing else is said.
  public var isActive: Bool
  /// The scopes, joined by spaces.
  public var scope: String?
  /// The issuer.
  public var issuer: String?
  /// The audience; of access tokens only.
  public var audience: String?
  /// The identifier of the account.
  public var subject: String?
  /// When the token expires, in seconds since 1970 (NumericDate of RFC 7519), as every time here.
  public var expiresAt: Int?
  /// When the token was issued, in seconds since 1970.
  public var issuedAt: Int?
  /// Its identifier; of access tokens only.
  public var tokenID: String?
  /// The session that it belongs to (OpenID Connect Front-Channel Logout 1.0, section 3).
  public var session: String?
  /// When the user proved who they are, in seconds since 1970 (OpenID Connect Core, section 2).
  public var authTime: Int?
  /// The methods of that authentication (RFC 8176); nil where nothing is known of it.
  public var methods: [String]?

  public init(isActive: Bool) { self.isActive = isActive }
}

extension TokenIntrospection: ObjectCodable {
  public static let blank = TokenIntrospection(isActive: false)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("active", &isActive)
    try coder.optional("scope", &scope)
    try coder.optional("iss", &issuer)
    try coder.optional("aud", &audience)
    try coder.optional("sub", &subject)
    try coder.optional("exp", &expiresAt)
    try coder.optional("iat", &issuedAt)
    try coder.optional("jti", &tokenID)
    try coder.optional("sid", &session)
    try coder.optional("auth_time", &authTime)
    try coder.optional("amr", &methods)
  }
}
