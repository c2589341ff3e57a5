import Configuration
import RESTProvider

/// How a profile on a REST backend is understood.
extension RESTProviderSettings {
  /// The settings that a profile asks for.
  init(_ configuration: RESTProfileConfiguration, _ secrets: ClientSecrets) {
    let clientSecret = configuration.clientSecret.map { reference -> SecretSource in
      { @Sendable in await secrets.find(reference) }
    }
    self.init(
      baseURL: configuration.baseURL, mapping: configuration.mapping, tls: configuration.tls,
      clientID: configuration.clientID, clientSecret: clientSecret)
  }
}
