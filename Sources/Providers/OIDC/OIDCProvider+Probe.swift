package import BrokerCore
package import BrokerProtocol
import HTTP
import ProviderKit

/// Whether the provider can be reached.
extension OIDCProvider {
  /// Sends one request for the provider's metadata, or, where they are not read, to the token endpoint, which refuses
  /// it.
  package func probe() async -> ProviderProbe {
    let exchange = await ProbeExchange(HTTPRequest(.get, discovery.firstDocument), caller.transport, clock: clock)
    var probe = exchange.probe(addressSetting)
    guard case .success(let response) = exchange.result else { return probe }
    if discovery.isForeign(response) { probe.fault = .issuer }
    if response.status == 404, await isUndescribed() { probe.fault = .address }
    return probe
  }

  /// Whether neither the provider nor the configuration says where tokens are given.
  private func isUndescribed() async -> Bool {
    do throws(ProviderFailure) {
      _ = try await discovery.endpoint(.token)
      return false
    } catch { return error == .misconfigured(.address) }
  }

  /// The setting that says where the provider is.
  var addressSetting: String { dialect.usesDiscovery ? "issuer" : "endpoints.token" }
}

extension OIDCProvider {
  /// Whether it is an address at which sessions are made, changed or ended.
  package func issues(at address: TargetAddress) -> Bool { address.isAny(of: discovery.tokenAddresses) }

  /// Reads the documents.
  package func learnAddresses() async { await discovery.learnAddresses() }

  /// Whether they were read, or none are.
  package var knowsAddresses: Bool { discovery.knowsAddresses }
}
