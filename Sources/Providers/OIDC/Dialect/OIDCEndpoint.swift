/// An endpoint of an OpenID Connect provider; each is named as in the configuration.
package enum OIDCEndpoint: String, Sendable, CaseIterable {
  /// Gives tokens (RFC 6749, section 3.2).
  case token
  /// The authorization endpoint, where a browser login begins (RFC 6749, section 3.1).
  case authorization
  /// Begins a login at another device (RFC 8628, section 3.1).
  case deviceAuthorization
  /// Ends a token (RFC 7009).
  case revocation
  /// The userinfo endpoint, which names the user (OpenID Connect Core, section 5.3).
  case userinfo
  /// Ends the user's session at the provider (OpenID Connect RP-Initiated Logout).
  case endSession

  /// The member of the provider's metadata that has its address.
  package var metadataName: String {
    switch self {
    case .token: "token_endpoint"
    case .authorization: "authorization_endpoint"
    case .deviceAuthorization: "device_authorization_endpoint"
    case .revocation: "revocation_endpoint"
    case .userinfo: "userinfo_endpoint"
    case .endSession: "end_session_endpoint"
    }
  }
}
