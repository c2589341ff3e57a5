package import BrokerCore
import HTTP
import ProviderKit

/// Whether the provider can be reached.
extension OIDCProvider {
  /// Asks once for what the provider says of itself, or, where that is not read, at the token endpoint, which refuses.
  package func probe() async -> ProviderProbe {
    let exchange = await ProbeExchange(HTTPRequest(.get, discovery.firstDocument), caller.transport, clock: clock)
    var probe = exchange.probe(addressSetting)
    if case .success(let response) = exchange.result, discovery.isForeign(response) { probe.fault = .issuer }
    return probe
  }

  /// The setting that says where the provider is.
  var addressSetting: String { dialect.usesDiscovery ? "issuer" : "endpoints.token" }
}
