package import BrokerCore
package import BrokerProtocol
package import LinuxSystem

/// The doors, as the program around the server keeps them.
package struct DoorServices: Sendable {
  /// Opens one for a client, on the socket that it has passed, if it has.
  package var open: @Sendable (OpenDoor.Params, PassedDescriptor?, Principal) -> Result<OpenDoor.Result, BrokerError> =
    {
      _, _, _ in .failure(BrokerError(.internal))
    }
  /// Closes one, by its id, for a client that may; false where there is none.
  package var close: @Sendable (String, Principal) -> Bool = { _, _ in false }
  /// Lists the doors that a client is shown.
  package var list: @Sendable (Principal) -> [DoorState] = { _ in [] }
  /// Closes those of a connection that has ended.
  package var forget: @Sendable (ClientID) -> Void = { _ in }

  /// No doors.
  package init() {}
}

extension BrokerServer {
  /// The present principal of a connection, as it calls a method; nil once it is closed.
  package func principal(of client: ClientID, calling method: String) -> Principal? {
    guard var principal = connections[client]?.principal else { return nil }
    principal.method = method
    return principal
  }
}

/// The routes of the doors.
extension Routes {
  /// One route for each of their methods.
  static let doors: [Route] = [
    .now(OpenDoor.self) { server, params, request throws(BrokerError) in
      let passed = request.principal.client.flatMap { server.connections[$0]?.stream.takePassed() }
      return try server.environment.doors.open(params, passed, request.principal).get()
    },
    .now(CloseDoor.self) { server, params, request throws(BrokerError) in
      guard server.environment.doors.close(params.doorID, request.principal) else {
        throw BrokerError(
          .invalidParams, "No door with this id was opened here, or it is closed; listDoors lists them.",
          pointer: "/doorId")
      }
      return Empty()
    },
    .now(ListDoors.self) { server, _, request in
      ListDoors.Result(doors: server.environment.doors.list(request.principal))
    },
  ]
}
