/// The providers that a configuration can name.
package enum OIDCPreset: String, Sendable, CaseIterable {
  /// Any provider, described by its issuer.
  case oidc
  /// A realm of a Keycloak server.
  case keycloak
  /// A tenant of Auth0.
  case auth0
  /// Google.
  case google
  /// Microsoft's identity platform.
  case microsoft
  /// GitHub.
  case github
  /// GitLab.
  case gitlab
}
