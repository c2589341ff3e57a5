import Configuration
import FirebaseProvider

/// How a profile on a Firebase project is understood.
extension FirebaseProviderSettings {
  /// The settings that a profile asks for.
  init(_ configuration: FirebaseProfileConfiguration, _ secrets: ClientSecrets) {
    let reference = configuration.apiKey
    self.init(
      apiKey: { @Sendable in await secrets.find(reference) }, baseURL: configuration.baseURL, tls: configuration.tls)
  }
}
