/// The provider, client and address that a session belongs to: where any of them changes in the configuration, the
/// session is not sent anywhere.
package struct ProviderBinding: Sendable, Hashable {
  /// The provider's type, as in the configuration.
  package var type: String
  /// The issuer or base URL; empty for a provider without one.
  package var issuer: String
  /// The client's name at the provider (RFC 6749, section 2.2); empty where there is none.
  package var clientID: String

  package init(type: String, issuer: String = "", clientID: String = "") {
    self.type = type
    self.issuer = issuer
    self.clientID = clientID
  }
}
