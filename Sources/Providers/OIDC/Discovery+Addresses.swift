import BrokerProtocol
import HTTP
import ProviderKit
import Synchronization

/// The addresses to which no client has a request sent.
extension Discovery {
  /// The addresses at which tokens are made or ended and clients are registered, as far as they are known: those of the
  /// configuration, and of the documents.
  nonisolated var tokenAddresses: [TargetAddress] { addresses.withLock { $0.known } }

  /// Whether the documents were read, or none are.
  nonisolated var knowsAddresses: Bool { !dialect.usesDiscovery || addresses.withLock { $0.isWhole } }

  /// Reads the documents, unless that was done.
  func learnAddresses() async { _ = try? await metadata { _ in true } }

  /// The same, of the configuration and of documents that were found.
  static func tokenAddresses(
    _ configured: [OIDCEndpoint: HTTPURL], _ found: ProviderMetadata? = nil
  ) -> [TargetAddress] {
    let endpoints = OIDCEndpoint.allCases.filter { $0 != .userinfo }.flatMap { [configured[$0], found?.endpoints[$0]] }
    return (endpoints + [found?.pushedAuthorization, found?.features.registration]).compactMap { $0?.address }
  }
}
