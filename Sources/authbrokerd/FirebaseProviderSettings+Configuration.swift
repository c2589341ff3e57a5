import Configuration
import FirebaseProvider
import HTTP

/// How a profile on a Firebase project is understood.
extension FirebaseProviderSettings {
  /// The settings that a profile asks for.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  init(_ configuration: FirebaseProfileConfiguration, _ secrets: ClientSecrets) throws(HTTPFailure) {
    let reference = configuration.apiKey
    var baseURL: HTTPURL?
    if let text = configuration.baseURL { baseURL = try HTTPURL(text) }
    self.init(
      apiKey: { @Sendable in await secrets.find(reference) }, baseURL: baseURL, tls: try TLSPolicy(configuration.tls))
  }
}
