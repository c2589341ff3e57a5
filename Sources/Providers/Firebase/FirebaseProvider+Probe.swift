package import BrokerCore
package import BrokerProtocol
import HTTP
import ProviderKit

/// Whether the services can be reached.
extension FirebaseProvider {
  /// Reads the service's address without a key: any answer is a good one.
  package func probe() async -> ProviderProbe {
    await ProbeExchange(HTTPRequest(.get, caller.url(.signInWithPassword)), caller.transport, clock: clock).probe(
      "baseUrl")
  }

  /// Whether it is an address at which sessions are made, changed or ended.
  package func issues(at address: TargetAddress) -> Bool { address.isAny(of: caller.tokenAddresses) }
}
