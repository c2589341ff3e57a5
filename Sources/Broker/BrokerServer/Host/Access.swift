package import BrokerCore
import LinuxSystem
import Transport

extension AccessClient {
  /// The process at the other end of a connection; the owner's where the kernel was not asked for its user.
  init(at entrance: Entrance, user: UInt32? = nil, peer: PeerProcess? = nil, tool: String? = nil) {
    let owner = ProcessIdentity.user
    self.init(
      socket: entrance.limitedSocket, user: user ?? owner, isOwner: user ?? owner == owner, unit: peer?.unit,
      label: peer?.label, tool: tool)
  }
}

/// The permissions of the clients of each entrance.
extension BrokerServer {
  /// Applies a policy, to the connections that are open, too.
  package func setAccess(_ table: AccessTable) {
    access = table
    broker.assumeIsolated { broker in
      broker.describeClients { [weak self] principal in
        self?.assumeIsolated { $0.consentClient(of: principal) }
          ?? ConsentClient(connection: principal.client, AccessClient(at: .socket, user: principal.user))
      }
    }
    for connection in Array(connections.all) { renewPermissions(of: connection) }
  }

  /// Gives the clients of a limited socket that is about to be opened the most that they may have; nil for one that is
  /// closed.
  package func setCeiling(_ ceiling: AccessPolicy.Ceiling?, of socket: String) { access.set(ceiling, of: socket) }

  /// How many connections that came by an entrance are open.
  package func connectionCount(at entrance: Entrance) -> Int { listeners[entrance]?.connections ?? 0 }

  /// The client of a connection, as rules know it.
  func client(of connection: Connection) -> AccessClient {
    AccessClient(
      at: connection.entrance, user: connection.principal.user, peer: connection.peer, tool: connection.tool)
  }

  /// Asks the kernel, once for each connection that was accepted, about the process at its other end.
  func identifyPeer(of connection: Connection) {
    let principal = connection.principal
    guard connection.peer == nil, principal.user != nil, let process = principal.process else { return }
    connection.peer = heldPeers.peer(
      process, connection.entrance, principal.user, at: connection.stream, acceptedAt: connection.acceptedAt)
  }

  /// Gives a connection the permissions that it has now, and takes from it what it may not have any more.
  func renewPermissions(of connection: Connection) {
    if access.dependsOnProcess { identifyPeer(of: connection) }
    let permissions = access.permissions(of: client(of: connection))
    guard permissions !== connection.principal.permissions else { return }
    connection.principal.permissions = permissions
    let renewed = connection.principal
    broker.assumeIsolated { $0.limit(renewed) }
  }

  /// Accepts no more connections at a limited socket, removes its path, and closes the connections that came by it.
  package func close(_ entrance: Entrance) {
    guard let listener = listeners[entrance] else { return }
    listener.stop()
    listener.removePath()
    for _ in 0..<announced.dropAccepted(at: entrance) { listener.connectionClosed() }
    for connection in Array(connections.all) where connection.entrance == entrance { close(connection) }
    listeners[entrance] = nil
  }
}
