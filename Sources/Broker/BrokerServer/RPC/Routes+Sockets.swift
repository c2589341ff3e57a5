package import BrokerCore
package import BrokerProtocol

/// The limited sockets, as the program around the server keeps them.
package struct SocketServices: Sendable {
  /// Takes the socket that was opened, or the reason why it was not.
  package typealias OpenReply = @Sendable (Result<OpenSocket.Result, BrokerError>) -> Void

  /// All of them, and their state.
  package var list: @Sendable () -> [LimitedSocketState] = { [] }
  /// Opens one for a client.
  package var open: @Sendable (OpenSocket.Params, ClientID?, @escaping OpenReply) -> Void = { _, _, reply in
    reply(.failure(BrokerError(.internal)))
  }
  /// Closes one that was opened, by its id; false where there is none.
  package var close: @Sendable (String) -> Bool = { _ in false }
  /// Closes those that end with a connection, which has ended.
  package var forget: @Sendable (ClientID) -> Void = { _ in }

  /// No sockets.
  package init() {}

  /// Whether one is open that was opened at run time: its time is not over, so that the broker is in use.
  var areOpened: Bool { list().contains { $0.expiresAt != nil } }
}

/// The routes of the limited sockets, for clients that have the state directory.
extension Routes {
  /// One route for each of their methods.
  static let sockets: [Route] = [
    Route(OpenSocket.self) { server, node, request throws(BrokerError) in
      let params: OpenSocket.Params = try server.decode(node, request)
      server.environment.sockets.open(params, request.principal.client) {
        [weak server, caller = request.caller] result in
        server?.assumeIsolated { server in
          switch result {
          case .success(let socket): server.succeed(caller, socket)
          case .failure(let error): server.fail(caller, error)
          }
        }
      }
    }.administrative(),
    Route.now(CloseSocket.self) { server, params, _ throws(BrokerError) in
      guard server.environment.sockets.close(params.socketID) else {
        throw BrokerError(
          .invalidParams, "No socket with this id was opened by openSocket, or it is closed; listSockets lists them.",
          pointer: "/socketId")
      }
      return Empty()
    }.administrative(),
    Route.now(ListSockets.self) { server, _, _ in ListSockets.Result(sockets: server.environment.sockets.list()) }
      .administrative(),
  ]
}
