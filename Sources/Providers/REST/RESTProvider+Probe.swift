package import BrokerCore
package import BrokerProtocol
import ProviderKit

/// Whether the backend can be reached.
extension RESTProvider {
  /// Sends one request for the user without a token: 401 is as good an answer as any.
  ///
  /// The client's password does not go along.
  package func probe() async -> ProviderProbe {
    await ProbeExchange(publicCaller.maker.probe, publicCaller.transport, clock: clock).probe("baseUrl")
  }

  /// Whether it is an address at which sessions are made, changed or ended.
  package func issues(at address: TargetAddress) -> Bool { address.isAny(of: tokenAddresses) }
}
