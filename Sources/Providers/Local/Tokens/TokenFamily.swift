import BrokerProtocol

/// The refresh tokens that follow from one login, of which one at a time is unspent.
struct TokenFamily {
  /// Names it, also in its access tokens.
  var id: String
  /// Whose it is.
  var account: String
  /// What its tokens are good for, joined by spaces.
  var scopes: String
  /// When its user last proved who they are; nil where that was not noted.
  var authTime: Timestamp?
  /// How they did that.
  var methods: AuthenticationMethods
  /// When it began.
  var createdAt: Timestamp
  /// When its last refresh token was issued.
  var lastUsedAt: Timestamp
  /// When it ends; fixed at the login.
  var expiresAt: Timestamp
  /// Whether it was ended before.
  var isRevoked = false

  /// When it ends unless it is used before: its own end, or an earlier one for want of use.
  func end(idleLifetime: Duration) -> Timestamp { min(expiresAt, lastUsedAt + idleLifetime) }
}
