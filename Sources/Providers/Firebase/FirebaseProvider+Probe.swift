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

  package func issues(at address: TargetAddress, asking asks: Bool) async -> Bool {
    address.isAny(of: FirebaseCall.allCases.filter { $0 != .lookup }.map(caller.url))
  }
}
