package import BrokerCore
package import HTTP
package import SecretMemory

/// What a provider of this type is configured with.
package struct RESTProviderSettings: Sendable {
  /// Fetches the client's password when it is needed.
  package typealias SecretSource = @Sendable () async -> Result<Secret, ProviderFailure>

  /// Where the backend is; paths are put below it.
  package var baseURL: HTTPURL
  /// How it is spoken to.
  package var mapping: RESTMapping
  /// Whom its certificate must come from.
  package var tls: TLSPolicy
  /// The client's name at the backend; empty where there is none.
  package var clientID: String
  /// The client's password, where the backend wants one.
  package var clientSecret: SecretSource?

  /// The settings of a backend that is called as everybody is.
  package init(
    baseURL: HTTPURL, mapping: RESTMapping = .standard, tls: TLSPolicy = TLSPolicy(), clientID: String = "",
    clientSecret: SecretSource? = nil
  ) {
    self.baseURL = baseURL
    self.mapping = mapping
    self.tls = tls
    self.clientID = clientID
    self.clientSecret = clientSecret
  }
}
