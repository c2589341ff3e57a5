import Configuration
import HTTP
import RESTProvider

/// How a profile on a REST backend is understood.
extension RESTProviderSettings {
  /// The settings that a profile asks for.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  init(_ configuration: RESTProfileConfiguration, _ secrets: ClientSecrets) throws(HTTPFailure) {
    let clientSecret = configuration.clientSecret.map { reference -> SecretSource in
      { @Sendable in await secrets.find(reference) }
    }
    self.init(
      baseURL: try HTTPURL(configuration.baseURL), mapping: configuration.mapping,
      tls: try TLSPolicy(configuration.tls),
      clientID: configuration.clientID, clientSecret: clientSecret)
  }
}
