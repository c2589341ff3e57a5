import Configuration
import OIDCProvider

/// How a profile on an OpenID Connect provider is understood.
extension OIDCProviderSettings {
  /// The settings that a profile asks for.
  init(_ configuration: OIDCProfileConfiguration, _ secrets: ClientSecrets) {
    let clientSecret = configuration.clientSecret.map { reference -> SecretSource in
      { @Sendable in await secrets.find(reference) }
    }
    self.init(
      dialect: configuration.dialect, clientID: configuration.clientID, clientSecret: clientSecret,
      clientAuthentication: configuration.clientAuthentication, redirect: configuration.redirect,
      tls: configuration.tls)
  }
}
