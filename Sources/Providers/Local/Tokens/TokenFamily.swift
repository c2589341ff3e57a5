import BrokerProtocol

/// The refresh tokens that follow from one login, of which one at a time is unspent.
struct TokenFamily {
  /// Names it, also in its access tokens.
  var id: String
  /// The account.
  var account: String
  /// The scopes of its tokens, joined by spaces.
  var scopes: String
  /// When its user last proved who they are; nil where that was not noted.
  var authTime: Timestamp?
  /// The methods of that authentication.
  var methods: AuthenticationMethods
  /// When it began.
  var createdAt: Timestamp
  /// When its last refresh token was issued.
  var lastUsedAt: Timestamp
  /// When it expires; fixed at the login.
  var expiresAt: Timestamp
  /// Whether it was revoked.
  var isRevoked = false

  /// When it expires unless it is used before: at its own time, or earlier for want of use.
  func expiry(idleLifetime: Duration) -> Timestamp { min(expiresAt, lastUsedAt + idleLifetime) }
}
