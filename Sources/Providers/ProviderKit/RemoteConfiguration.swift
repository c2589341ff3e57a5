package import BrokerCore
package import BrokerProtocol
package import ConfigurationFile
package import HTTP
package import SecretMemory

/// Finds a secret where a configuration says that it is, each time that it is needed.
package typealias SecretFinder = @Sendable (SecretReference) async -> Result<Secret, ProviderFailure>

/// The configuration of a provider that is reached over HTTP, and the making of the provider from it.
package protocol RemoteConfiguration: Sendable, Equatable {
  /// The name of the provider's type, as in the configuration.
  var type: String { get }

  /// The profiles whose tokens its own are issued for, each under the key that names it.
  var subjects: [(key: String, profile: ProfileName)] { get }

  /// Makes the provider; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - client: sends the requests; closed by its creator.
  ///   - secrets: finds the client's secret.
  /// - Returns: the provider.
  /// - Throws: `HTTPFailure` where the provider cannot be made of it.
  func makeProvider(client: HTTPClient, secrets: @escaping SecretFinder) throws(HTTPFailure) -> any AuthProvider

  /// The same for a provider at which the broker may register itself; the clients are those of all profiles.
  func makeProvider(
    client: HTTPClient, secrets: @escaping SecretFinder, clients: RegisteredClients
  ) throws(HTTPFailure) -> any AuthProvider
}

extension RemoteConfiguration {
  /// A provider at which the client is configured.
  package func makeProvider(
    client: HTTPClient, secrets: @escaping SecretFinder, clients: RegisteredClients
  ) throws(HTTPFailure) -> any AuthProvider {
    try makeProvider(client: client, secrets: secrets)
  }
}

extension RemoteConfiguration {
  /// None, for a provider whose users log in.
  package var subjects: [(key: String, profile: ProfileName)] { [] }

  /// Whether another configuration says the same of a provider of the same type.
  package func isSame(as other: any RemoteConfiguration) -> Bool { (other as? Self) == self }
}
