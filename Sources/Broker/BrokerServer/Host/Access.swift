package import BrokerCore
import LinuxSystem
import Transport

/// The permissions of the clients of each entrance.
extension BrokerServer {
  /// Applies a policy, to the connections that are open, too.
  package func setAccess(_ table: AccessTable) {
    access = table
    for connection in Array(connections.all) { renewPermissions(of: connection) }
  }

  /// The permissions of the process at the other end of a connection; `tool` is the name that it gives itself.
  func permissions(at entrance: Entrance, of user: UInt32?, tool: String? = nil) -> Permissions {
    let owner = ProcessIdentity.user
    return access.permissions(
      of: AccessClient(socket: entrance.limitedSocket, user: user ?? owner, isOwner: user ?? owner == owner, tool: tool)
    )
  }

  /// Gives a connection the permissions that it has now, and takes from it what it may not have any more;
  /// `tool` is the name that its client has just given itself.
  func renewPermissions(of connection: Connection, tool: String? = nil) {
    let principal = connection.principal
    let tool = tool ?? principal.permissions.client?.tool
    let permissions = permissions(at: connection.entrance, of: principal.user, tool: tool)
    guard permissions !== principal.permissions else { return }
    connection.principal.permissions = permissions
    let renewed = connection.principal
    broker.assumeIsolated { $0.limit(renewed) }
  }

  /// Accepts no more connections at a limited socket, removes its path, and closes the connections that came by it.
  package func close(_ entrance: Entrance) {
    guard let listener = listeners.removeValue(forKey: entrance) else { return }
    listener.stop()
    listener.removePath()
    for connection in Array(connections.all) where connection.entrance == entrance { close(connection) }
  }
}
