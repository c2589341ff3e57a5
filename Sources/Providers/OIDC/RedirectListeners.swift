import BrokerCore
import BrokerProtocol
import LinuxSystem
import OIDCDialect
import Synchronization

/// The sockets of logins that were begun: they listen before anybody knows the address, and until they are awaited.
final class RedirectListeners: Sendable {
  private struct Entry {
    let state: String
    let socket: RedirectSocket
    let expiresAt: Timestamp
  }

  /// More than a profile can have: its newest login replaces the others.
  private static let most = 16

  private let entries = Mutex<[Entry]>([])

  /// Keeps the socket of a login; those that nobody awaits any more are closed.
  func keep(_ socket: RedirectSocket, for flow: RedirectFlow, at now: Timestamp) {
    entries.withLock { entries in
      entries.removeAll { $0.expiresAt <= now }
      if entries.count >= Self.most { entries.removeFirst() }
      entries.append(Entry(state: flow.state, socket: socket, expiresAt: flow.expiresAt))
    }
  }

  /// The socket of a login, which is its caller's from now on; another one on the same port where there is none.
  ///
  /// - Throws: as ``RedirectSocket/init(_:port:)``.
  func take(_ flow: RedirectFlow) throws(ProviderFailure) -> RedirectSocket {
    let known = entries.withLock { entries -> RedirectSocket? in
      guard let index = entries.firstIndex(where: { $0.state == flow.state }) else { return nil }
      return entries.remove(at: index).socket
    }
    if let known { return known }
    return try RedirectSocket(flow.address.host, port: flow.port)
  }

  /// Closes what waits on a port and is not awaited: another login wants it.
  func release(port: Int) {
    guard port != 0 else { return }
    entries.withLock { entries in
      entries.removeAll { entry in
        guard entry.socket.listening.port == port else { return false }
        entry.socket.listening.stop()
        return true
      }
    }
  }
}
