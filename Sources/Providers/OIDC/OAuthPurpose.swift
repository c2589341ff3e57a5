/// The purpose of a request, on which the meaning of a refusal depends.
enum OAuthPurpose: Sendable, CaseIterable {
  /// Tokens for a password (RFC 6749, section 4.3).
  case password
  /// Tokens for a code that a browser brought (RFC 6749, section 4.1.3).
  case code
  /// The parameters of a login in a browser (RFC 9126).
  case pushedAuthorization
  /// A code for another device (RFC 8628, section 3.1).
  case deviceAuthorization
  /// Tokens, once the user has been at another device (RFC 8628, section 3.4).
  case device
  /// A code that the user is sent, where a password does not suffice.
  case challenge
  /// Tokens for such a code.
  case secondFactor
  /// Tokens for a recovery code in its place.
  case recoveryCode
  /// Tokens for the client itself (RFC 6749, section 4.4).
  case clientCredentials
  /// Tokens for an assertion (RFC 7523, section 2.1).
  case assertion
  /// Tokens for other tokens (RFC 8693).
  case exchange
  /// Tokens for a refresh token that another program had.
  case takeOver
  /// Tokens for the session's refresh token (RFC 6749, section 6).
  case refresh
  /// An access token for fewer scopes or another audience, for the session's refresh token.
  case narrow
  /// The end of a token (RFC 7009), or of a session.
  case revocation

  /// Whether the session's own refresh token is sent: then nearly every failure passes.
  var spendsRefreshToken: Bool { self == .refresh || self == .narrow }

  /// Whether the request sends a login's credential that works once: after a lost reply it may be used up.
  var spendsLoginCredential: Bool {
    switch self {
    case .code, .secondFactor, .recoveryCode, .takeOver: true
    case .password, .pushedAuthorization, .deviceAuthorization, .device, .challenge, .clientCredentials, .assertion,
      .exchange, .refresh, .narrow,
      .revocation:
      false
    }
  }
}
