package import BrokerCore
import BrokerProtocol
import ProviderKit
package import SecretMemory

/// Logins that wait for their user, at the issuer and for the client that they were begun with.
extension ResourceProvider: BrowserLoginProvider, DeviceLoginProvider {
  package func awaitRedirect(flow handle: Secret) async throws(ProviderFailure) -> ProviderSession {
    let flow = try flow(handle)
    do throws(ProviderFailure) {
      return try await provider(of: flow.client).awaitRedirect(flow: flow.inner).issued(to: flow.client)
    } catch { throw await refused(error, flow.client) }
  }

  package func takeRedirect(_ address: Secret, flow handle: Secret) throws(RedirectFault) {
    guard let flow = try? flow(handle), let provider = try? provider(of: flow.client, nil) else { throw .otherLogin }
    try provider.takeRedirect(address, flow: flow.inner)
  }

  package func pollUserAction(flow handle: Secret) async throws(ProviderFailure) -> UserActionProgress {
    let flow = try flow(handle)
    do throws(ProviderFailure) {
      switch try await provider(of: flow.client).pollUserAction(flow: flow.inner) {
      case .pending(let slowsDown): return .pending(slowsDown: slowsDown)
      case .authenticated(let session): return .authenticated(session.issued(to: flow.client))
      }
    } catch { throw await refused(error, flow.client) }
  }

  /// Reads a handle.
  ///
  /// - Throws: `.refused(.flowNotFound)` for what is none; `.transient(.overloaded)` where there is no room for it.
  private func flow(_ handle: Secret) throws(ProviderFailure) -> ResourceFlow {
    let flow: ResourceFlow?
    do throws(SecretMemoryExhausted) { flow = try ResourceFlow(handle) } catch { throw .transient(.overloaded) }
    guard let flow else { throw .refused(.flowNotFound) }
    return flow
  }

  /// The failure of a login whose client the server does not know: the next one registers another.
  func refused(_ failure: ProviderFailure, _ client: TokenClient) async -> ProviderFailure {
    guard failure == .misconfigured(.client), isRegistered(client) else { return failure }
    await clients.forget(client.id, at: client.issuer)
    return .misconfigured(.registration)
  }
}
