import BrokerCore
import BrokerProtocol
import LinuxSystem
import Synchronization

/// The sockets of logins in a browser: they listen from before the address is published until the browser has come.
///
/// One port is one socket's. Of this provider's own logins the last has it; another program's port is not touched.
final class RedirectListeners: Sendable {
  /// The socket of a login that was begun, and that is not awaited yet.
  private struct Entry {
    let state: String
    let socket: RedirectSocket
    let expiresAt: Timestamp
  }

  /// Everything that may listen.
  private struct Known {
    var entries: [Entry] = []
    var waits: [RedirectWait] = []
    /// The verdicts that users have brought for logins that are not awaited yet, by state.
    var brought: [String: RedirectJudge.Verdict] = [:]

    /// Frees a port: when it returns, nothing here listens there.
    mutating func release(port: Int, awaited: Bool) {
      entries.removeAll { entry in
        guard entry.socket.port == port else { return false }
        entry.socket.stop()
        return true
      }
      if awaited { for wait in waits where wait.port == port { wait.giveUp() } }
    }

    /// The socket of a login, which is its caller's from now on.
    mutating func take(_ flow: RedirectFlow) throws(ProviderFailure) -> RedirectSocket {
      if let index = entries.firstIndex(where: { $0.state == flow.state }) { return entries.remove(at: index).socket }
      // The same login was awaited before, and its wait is just ending.
      for wait in waits where wait.state == flow.state { wait.giveUp() }
      let others = waits.filter { $0.state != flow.state }.map(\.port) + entries.map(\.socket.port)
      guard !others.contains(flow.port) else { throw .transient(.cancelled) }
      return try RedirectSocket.open(flow.address.host, port: flow.port)
    }
  }

  /// More than a profile can have: its newest login replaces the others.
  private static let most = 16

  private let known = Mutex(Known())

  /// Begins to listen for a login.
  ///
  /// An earlier login of this provider on the same port makes room; one whose browser has come goes on all the same, since
  /// it needs its port no more. Those that are not awaited any more are closed.
  ///
  /// - Parameters:
  ///   - redirect: where; port 0 is any free one.
  ///   - replacesAwaited: whether a login that is awaited makes room too.
  ///   - now: the present time.
  ///   - makeFlow: gets the port.
  /// - Returns: what `makeFlow` returns.
  /// - Throws: what `makeFlow` throws; and as ``RedirectSocket/init(_:port:)``.
  func begin(
    on redirect: LoopbackRedirect, replacesAwaited: Bool, at now: Timestamp,
    _ makeFlow: (_ port: Int) throws(ProviderFailure) -> RedirectFlow
  ) throws(ProviderFailure) -> RedirectFlow {
    try known.withLock { known throws(ProviderFailure) in
      if redirect.port != 0 { known.release(port: redirect.port, awaited: replacesAwaited) }
      let socket = try RedirectSocket.open(redirect.host, port: redirect.port)
      let flow = try makeFlow(socket.port)
      known.entries.removeAll { $0.expiresAt <= now }
      if known.entries.count >= Self.most { known.entries.removeFirst() }
      known.entries.append(Entry(state: flow.state, socket: socket, expiresAt: flow.expiresAt))
      return flow
    }
  }

  /// Forgets a login that was begun and came to nothing.
  func withdraw(_ flow: RedirectFlow) {
    known.withLock { known in
      guard let index = known.entries.firstIndex(where: { $0.state == flow.state }) else { return }
      known.entries.remove(at: index).socket.stop()
    }
  }

  /// Begins to await the browser of a login, on its socket, else on another one on the same port.
  ///
  /// - Returns: the wait, for ``end(_:)``.
  /// - Throws: `.transient(.cancelled)` where a later login of this provider has the port; `.transient(.overloaded)`; and as
  ///   ``RedirectSocket/init(_:port:)``.
  func wait(for flow: RedirectFlow, _ dialect: OIDCDialect) throws(ProviderFailure) -> RedirectWait {
    try known.withLock { known throws(ProviderFailure) in
      let socket = try known.take(flow)
      do throws(Errno) {
        let wait = try RedirectWait(socket, RedirectJudge(flow: flow, dialect: dialect))
        if let verdict = known.brought.removeValue(forKey: flow.state) { wait.bring(verdict) }
        known.waits.append(wait)
        return wait
      } catch {
        throw .transient(.overloaded)
      }
    }
  }

  /// Ends the wait of a login with what its user has brought; one that is not awaited yet will end so.
  func bring(_ verdict: RedirectJudge.Verdict, to flow: RedirectFlow) {
    known.withLock { known in
      if let wait = known.waits.last(where: { $0.state == flow.state }) { return wait.bring(verdict) }
      guard known.brought[flow.state] == nil else { return }
      if known.brought.count >= Self.most { known.brought = [:] }
      known.brought[flow.state] = verdict
    }
  }

  /// Forgets a wait that is over, and ends its thread.
  func end(_ wait: RedirectWait) {
    known.withLock { known in known.waits.removeAll { $0 === wait } }
    wait.end()
  }
}
