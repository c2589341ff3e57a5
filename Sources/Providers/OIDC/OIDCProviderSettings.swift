package import BrokerCore
package import HTTP
package import SecretMemory

/// What a provider of this type is configured with.
package struct OIDCProviderSettings: Sendable {
  /// Fetches the client's password when it is needed.
  package typealias SecretSource = @Sendable () async -> Result<Secret, ProviderFailure>

  /// How the provider is spoken to.
  package var dialect: OIDCDialect
  /// The client's name at the provider.
  package var clientID: String
  /// The client's password, where it has one.
  package var clientSecret: SecretSource?
  /// How the client makes itself known.
  package var clientAuthentication: OIDCDialect.ClientAuthentication
  /// Where a browser comes back to.
  package var redirect: LoopbackRedirect
  /// Whom the provider's certificates must come from, at each of its endpoints.
  package var tls: TLSPolicy

  /// The settings of a client; one without a password is known by its name alone.
  package init(
    dialect: OIDCDialect, clientID: String, clientSecret: SecretSource? = nil,
    clientAuthentication: OIDCDialect.ClientAuthentication = .none, redirect: LoopbackRedirect = .standard,
    tls: TLSPolicy = TLSPolicy()
  ) {
    self.dialect = dialect
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.clientAuthentication = clientAuthentication
    self.redirect = redirect
    self.tls = tls
  }
}
