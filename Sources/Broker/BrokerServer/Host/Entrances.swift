package import BrokerCore
package import LinuxSystem
import Logging
package import Transport

/// A way by which clients come to the server.
package struct Entrance: Hashable, Sendable {
  /// The name in the log.
  package let name: String
  /// The name of the limited socket that it is; nil for another way.
  package var limitedSocket: String?
  /// Whether its clients may pass descriptors, each of which takes one of this process's.
  var takesDescriptors: Bool { limitedSocket == nil }

  /// The socket whose path this process makes.
  package static let socket = Entrance(name: "socket")
  /// A socket that a service manager made; clients wait in its queue for the next broker.
  package static let activation = Entrance(name: "activation")
  /// Standard input and output: the end of the input ends the broker.
  ///
  /// The parent has started the process, which proves as much as a file in the state directory does.
  package static let stdio = Entrance(name: "stdio")
  /// A connected socket that was handed over.
  package static let pair = Entrance(name: "pair")
  /// A socket that gives some profiles only, by its name in the configuration.
  package static func limited(_ socket: String) -> Entrance {
    Entrance(name: "limited socket \(socket)", limitedSocket: socket)
  }
}

/// The connections that clients may have open, by the entrance.
///
/// Clients of limited sockets may be any program, so that all of these sockets together have half of the connections at
/// most, and each a quarter: whatever they do, the owner's programs have the other half, and one socket leaves as much to
/// another.
struct ListenerShares {
  private let all: ConnectionShare
  private let limited: ConnectionShare

  /// The shares in so many connections.
  init(_ limit: Int) {
    all = ConnectionShare(limit)
    limited = ConnectionShare(Self.part(2, of: limit), of: all)
  }

  private static func part(_ count: Int, of limit: Int) -> Int { max(1, limit / count) }

  /// The share of an entrance that has none yet.
  func share(of entrance: Entrance) -> ConnectionShare {
    entrance.limitedSocket == nil ? all : ConnectionShare(Self.part(4, of: all.limit), of: limited)
  }

  /// Applies another limit; connections that are open stay.
  func setLimit(_ limit: Int, _ listeners: [Entrance: UnixListener]) {
    for (entrance, listener) in listeners where entrance.limitedSocket != nil {
      listener.share.limit = Self.part(4, of: limit)
    }
    limited.limit = Self.part(2, of: limit)
    all.limit = limit
  }
}

/// Accepting connections.
extension BrokerServer {
  /// Takes over standard input and output as a connection; the end of the input ends the server.
  ///
  /// - Throws: what epoll says of the descriptors.
  package nonisolated func take(_ channel: consuming sending StdioChannel) throws(Errno) {
    let stream = StdioStream(channel)
    try adopt(stream, .stdio) { server, client in
      let permissions = server.access.permissions(of: AccessClient(at: .stdio))
      return Principal(client: client, process: nil, permissions, isAdministrative: true)
    }.get()
  }

  /// Takes over one connected socket, which must not block, of a process where one is named, as if it had come by an
  /// entrance; `permissions` nil are those that the entrance gives to the owner, as a process of this unit and label.
  ///
  /// - Throws: what epoll says of the descriptor.
  package nonisolated func take(
    _ descriptor: consuming sending FileDescriptor, process: Int32? = nil, as entrance: Entrance = .pair,
    _ permissions: Permissions? = nil, peer: PeerProcess? = nil
  ) throws(Errno) {
    let stream = SocketStream(descriptor)
    try adopt(stream, entrance, peer) { server, client in
      let own = AccessClient(at: entrance, peer: peer)
      return Principal(client: client, process: process, permissions ?? server.access.permissions(of: own))
    }.get()
  }

  /// Takes over the connections of some users as a listener accepts them; one of the same name, whose path has gone,
  /// accepts no more.
  ///
  /// - Throws: `EMFILE` and the like.
  package nonisolated func listen(
    _ socket: consuming sending UnixSocket.Listening, as entrance: Entrance = .socket,
    users: UserSet = UserSet(ProcessIdentity.user)
  ) throws(Errno) {
    let ledger = assumeIsolated { $0.ledger }
    let listener = UnixListener(loop: loop, socket: socket, users: users)
    listener.isFull = { ledger.note(.connections) }
    try start(listener, entrance).get()
  }

  private nonisolated func start(_ listener: sending UnixListener, _ entrance: Entrance) -> Result<Void, Errno> {
    assumeIsolated { server in
      server.joinLoop()
      return Result { [announced = server.announced] () throws(Errno) in
        let share = server.listeners[entrance]?.share ?? server.shares.share(of: entrance)
        try listener.start(within: share) { descriptor, credentials in
          let stream = SocketStream(descriptor)
          announced.note(ReadyConnections.Accepted(stream: stream, entrance: entrance, credentials: credentials))
        }
        if let old = server.listeners.updateValue(listener, forKey: entrance) { listener.replace(old) }
      }
    }
  }

  private nonisolated func adopt(
    _ stream: sending some ClientStream, _ entrance: Entrance, _ peer: PeerProcess? = nil,
    as principal: @Sendable (isolated BrokerServer, ClientID) -> Principal
  ) -> Result<Void, Errno> {
    assumeIsolated { server in
      Result { () throws(Errno) in
        let connection = server.connection(on: stream, entrance) { principal(server, $0) }
        connection.peer = peer
        try stream.attach(to: server.loop, connection)
        server.begin(connection)
      }
    }
  }

  /// Takes over a connection that was just accepted.
  ///
  /// Usually its client has asked for a token already: it is answered before the connection is registered anywhere,
  /// epoll included.
  func admit(_ accepted: ReadyConnections.Accepted) {
    // The server may have ended within this turn, when the connection was not its own yet.
    guard !end.hasStopped else {
      listeners[accepted.entrance]?.connectionClosed()
      return
    }
    let (entrance, credentials) = (accepted.entrance, accepted.credentials)
    let peer =
      access.dependsOnProcess ? accepted.stream.peer(credentials.pid, acceptedAt: BootClock.now) : nil
    let connection = connection(on: accepted.stream, entrance) { client in
      Principal(
        client: client, process: credentials.pid, user: credentials.uid, group: credentials.gid,
        access.permissions(of: AccessClient(at: entrance, user: credentials.uid, peer: peer)))
    }
    connection.peer = peer
    readFirst(connection)
    guard !connection.isClosed else { return }
    if connection.isOpening { begin(connection) }
    do throws(Errno) {
      try accepted.stream.attach(to: loop, connection)
    } catch {
      log.warning("connection refused", .code("errno", error.code), .word("entrance", entrance.name))
      close(connection)
    }
  }

  /// Every entrance leads to the same protocol.
  private func connection(
    on stream: any ClientStream, _ entrance: Entrance, _ principal: (ClientID) -> Principal
  ) -> Connection {
    let id = connections.nextName()
    return RPCConnection(id, principal(id), stream, entrance, announced, messageByteLimit: limits[.messageBytes])
  }

  /// Takes a connection over, after the answers that needed no state.
  func begin(_ connection: Connection) {
    connection.begin()
    connections[connection.id] = connection
    _ = ledger.add(.connections, 1)
    cancel(&end.idleTimer)
    joinLoop()
  }

  /// Lets the loop call the server behind its events from now on.
  private func joinLoop() {
    guard announced.server == nil else { return }
    announced.server = self
    loop.addObserver(announced)
  }
}
