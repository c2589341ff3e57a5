package import BrokerCore
package import ConfigurationFile
package import HTTP
package import ProviderKit

/// A profile on a Firebase project.
package struct FirebaseProfileConfiguration: Sendable, Equatable {
  /// The reference to the project's Web API key.
  package var apiKey: SecretReference
  /// The server below which both services are found under their hosts' names, as Firebase's emulator has them; nil for
  /// Google's own.
  package var baseURL: HTTPURL?
  /// The accepted certificates.
  package var tls: TLSPolicy

  /// A project.
  package init(apiKey: SecretReference, baseURL: HTTPURL? = nil, tls: TLSPolicy = TLSPolicy()) {
    self.apiKey = apiKey
    self.baseURL = baseURL
    self.tls = tls
  }

  /// Reads the project from a profile's section.
  ///
  /// - Returns: nil where a setting is missing or faulty that has no default.
  package init?(_ section: inout ConfigurationSection) {
    section.require("apiKey", #"write where the project's Web API key is: {env: "FIREBASE_API_KEY"}"#)
    let key = SecretReference.read("apiKey", in: &section)
    baseURL = section.serverURL("baseUrl")
    var tlsSection = section.section("tls")
    tls = TLSPolicy(&tlsSection)
    guard let key else { return nil }
    apiKey = key
  }
}

extension FirebaseProfileConfiguration: RemoteConfiguration {
  package var type: String { FirebaseProvider.type }

  package func makeProvider(
    client: HTTPClient, secrets: @escaping SecretFinder
  ) throws(HTTPFailure) -> any AuthProvider {
    try FirebaseProvider(self, client: client, secrets: secrets)
  }
}
