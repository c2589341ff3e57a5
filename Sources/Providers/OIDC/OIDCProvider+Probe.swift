package import BrokerCore
import HTTP
import OIDCDialect
import RemoteProvider

/// Whether the provider can be reached.
extension OIDCProvider {
  /// Asks once for what the provider says of itself, or, where that is not read, at the token endpoint, which refuses.
  package func probe() async -> ProviderProbe {
    await Sounding(HTTPRequest(.get, discovery.firstDocument), caller.transport, clock: clock).probe(addressSetting)
  }

  /// The setting that says where the provider is.
  var addressSetting: String { dialect.usesDiscovery ? "issuer" : "endpoints.token" }
}
