package import BrokerCore
package import HTTP
package import SecretMemory

/// What a provider of this type is configured with.
package struct FirebaseProviderSettings: Sendable {
  /// Fetches the project's API key when it is needed.
  package typealias KeySource = @Sendable () async -> Result<Secret, ProviderFailure>

  /// The project's Web API key.
  package var apiKey: KeySource
  /// The server below which both services are found under their hosts' names, as the emulator has them; nil for
  /// Google's own.
  package var baseURL: HTTPURL?
  /// Whom the servers' certificates must come from.
  package var tls: TLSPolicy

  /// The settings of a project.
  package init(apiKey: @escaping KeySource, baseURL: HTTPURL? = nil, tls: TLSPolicy = TLSPolicy()) {
    self.apiKey = apiKey
    self.baseURL = baseURL
    self.tls = tls
  }
}
