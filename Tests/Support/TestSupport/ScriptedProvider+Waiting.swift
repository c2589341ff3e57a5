package import BrokerCore
import BrokerProtocol
package import SecretMemory
import Synchronization

/// Logins that wait for their user.
extension ScriptedProvider: DeviceLoginProvider, BrowserLoginProvider {
  package func pollUserAction(flow: Secret) async throws(ProviderFailure) -> UserActionProgress {
    let poll = state.withLock { state in
      state.pollCount += 1
      return state.polls.isEmpty ? .pending() : state.polls.removeFirst()
    }
    switch poll {
    case .pending(let slowsDown): return .pending(slowsDown: slowsDown)
    case .done: return .authenticated(session)
    case .fails(let failure): throw failure
    }
  }

  /// Refuses the name of a fault, and takes everything else for what the browser would bring.
  package nonisolated func takeRedirect(_ address: Secret, flow: Secret) throws(RedirectFault) {
    let text = address.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    if let fault = RedirectFault.allCases.first(where: { "\($0)" == text }) { throw fault }
    redirect()
  }

  package func awaitRedirect(flow: Secret) async throws(ProviderFailure) -> ProviderSession {
    let redirectGate = RedirectGate(GateExecutor { [gate] in gate.postNow($0) })
    state.withLock { $0.redirects.append(redirectGate) }
    await withTaskCancellationHandler {
      await redirectGate.pass()
    } onCancel: {
      redirectGate.open()
    }
    let redirect = state.withLock { state in
      state.redirects.removeAll { $0 === redirectGate }
      return state.redirect
    }
    guard !Task.isCancelled, let redirect else { throw .transient(.cancelled) }
    if case .fails(let failure) = redirect { throw failure }
    return session
  }
}
