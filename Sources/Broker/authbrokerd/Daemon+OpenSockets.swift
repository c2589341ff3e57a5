import BrokerCore
import BrokerProtocol
import BrokerServer
import Configuration
import LinuxSystem
import Logging
import StateDirectory
import Transport

/// The limited sockets that clients have opened: until their time is over, they are closed, or the broker ends.
extension Daemon {
  /// The most that can be open: more than one person's containers, sandboxes and forwarded sockets.
  private static let mostOpened = 64
  /// The beginning of each id: a directory that begins with it is one that an earlier broker has left.
  private static let prefix = "open-"

  /// Opens, closes and lists them for the server.
  var socketServices: SocketServices {
    var services = SocketServices()
    services.list = { [weak self] in self?.assumeIsolated { $0.socketStates } ?? [] }
    services.open = { [weak self] params, opener, reply in
      self?.assumeIsolated { $0.openSocket(params, params.whileConnected == true ? opener : nil, reply) }
    }
    services.close = { [weak self] id in self?.assumeIsolated { $0.closeSocket(id) } ?? false }
    services.forget = { [weak self] client in self?.assumeIsolated { $0.closeSockets(of: client) } }
    return services
  }

  /// Closes the sockets that end with a connection, behind what happens at this moment: the end of that connection.
  private func closeSockets(of opener: ClientID) {
    guard limitedSockets.contains(where: { $0.opener == opener }) else { return }
    let previous = reloading
    reloading = Task {
      await previous?.value
      for socket in limitedSockets where socket.opener == opener { _ = closeSocket(socket.limited.name) }
    }
  }

  private var socketStates: [LimitedSocketState] {
    limitedSockets.map { socket in
      let (limited, allowance) = (socket.limited, socket.limited.ceiling.allowance)
      return LimitedSocketState(
        socketID: limited.name, path: socket.path, profiles: limited.ceiling.profiles,
        methods: allowance.methods?.sorted(), scopes: allowance.scopes, audiences: allowance.audiences,
        may: allowance.mayHold ? "hold" : "use",
        connections: server?.assumeIsolated { $0.connectionCount(at: socket.entrance) } ?? 0,
        expiresAt: socket.end?.at, problem: socket.problem)
    }
  }

  /// Opens a socket, behind a reload that is under way: that would not know it.
  private func openSocket(
    _ params: OpenSocket.Params, _ opener: ClientID?, _ reply: @escaping SocketServices.OpenReply
  ) {
    let previous = reloading
    reloading = Task {
      await previous?.value
      reply(Result { () throws(BrokerError) in try opened(params, opener) })
    }
  }

  private func opened(_ params: OpenSocket.Params, _ opener: ClientID?) throws(BrokerError) -> OpenSocket.Result {
    guard !isStopping, let server else { throw BrokerError(.shuttingDown) }
    // Its end has been told already, where it has gone meanwhile.
    if let opener, server.assumeIsolated({ $0.principal(of: opener, calling: OpenSocket.name) }) == nil {
      throw BrokerError(.shuttingDown)
    }
    guard limitedSockets.count(where: { $0.end != nil }) < Self.mostOpened else {
      throw BrokerError(
        .overloaded, "\(Self.mostOpened) sockets are open, which is the most; close one (closeSocket) and try again.")
    }
    let id = newSocketID
    let limited = try LimitedSocket.opened(as: id, params, profiles: configuration.profiles.map(\.name))
    if let path = limited.path { try Self.checkIsFree(path) }
    var socket = LimitedListener(limited, at: limited.path ?? standardPath(of: id))
    let admission: AccountNames.Admission
    do throws(StartFailure) { admission = try AccountNames().admission(to: limited, "") } catch {
      let key = error.message.prefix { $0 != ":" }
      throw BrokerError(.invalidParams, "The parameter /\(error.message).", pointer: "/\(key)")
    }
    // Before its first client comes.
    server.assumeIsolated { $0.setCeiling(limited.ceiling, of: id) }
    server.assumeIsolated { [isAudited = configuration.isAudited(opensSockets: true)] in $0.setAudit(isAudited) }
    do { try listen(on: socket, admission, server) } catch {
      server.assumeIsolated { $0.setCeiling(nil, of: id) }
      removeDirectory(of: socket)
      throw BrokerError(.invalidParams, "The socket cannot be opened: \(Self.reason(error))", pointer: "/path")
    }
    let timer = loop.schedule(after: params.lifetime) { [weak self] in
      self?.assumeIsolated { _ = $0.closeSocket(id) }
    }
    socket.admission = admission
    socket.opener = opener
    socket.end = (at: WallClock.timestamp + params.lifetime, timer: timer)
    limitedSockets.append(socket)
    watchSockets(server)
    return OpenSocket.Result(socketID: id, path: socket.path)
  }

  /// A name that no other limited socket has.
  private var newSocketID: String {
    var id: String
    repeat {
      let digits = String(UInt32.random(in: .min ... .max), radix: 16)
      id = Self.prefix + String(repeating: "0", count: 8 - digits.count) + digits
    } while limitedSockets.contains { $0.limited.name == id }
    return id
  }

  /// Refuses a path at which something is, and one whose directory is not there: nothing of another program's is replaced,
  /// and no directory is made by mistake.
  static func checkIsFree(_ path: String) throws(BrokerError) {
    let directory = PathName.directory(of: path)
    let problem: String
    if (try? FileStatus.ofLink(path)) != nil {
      problem = "\(path) exists; choose another path."
    } else if (try? FileStatus.following(directory))?.kind != .directory {
      problem = "\(directory) is no directory; make it first, or leave the path out."
    } else {
      return
    }
    throw BrokerError(.invalidParams, problem, pointer: "/path")
  }

  /// Closes a socket that was opened, and the connections that came by it; false where there is none of this id.
  private func closeSocket(_ id: String) -> Bool {
    guard let server, let socket = limitedSockets.first(where: { $0.end != nil && $0.limited.name == id }) else {
      return false
    }
    if let end = socket.end { loop.cancel(end.timer) }
    close(socket, server)
    server.assumeIsolated { $0.setCeiling(nil, of: id) }
    removeDirectory(of: socket)
    log.notice("a limited socket was closed", .word("name", id))
    return true
  }

  /// Removes the directory that was made for a socket which was opened.
  private func removeDirectory(of socket: LimitedListener) {
    guard socket.limited.path == nil else { return }
    try? DirectoryEntry.removeDirectory(PathName.directory(of: socket.path))
  }

  /// Removes the directories of the sockets that were opened, at the end of the broker.
  func removeOpenedDirectories() {
    for socket in limitedSockets where socket.end != nil { removeDirectory(of: socket) }
  }

  /// Removes what a broker that was killed has left of the sockets that it had opened: only the holder of the lock has any.
  func removeLeftSockets() {
    for name in (try? TemporaryDirectory.names(in: standardDirectory)) ?? []
    where name.hasPrefix(Self.prefix) || name.hasPrefix(Self.doorPrefix) {
      try? DirectoryEntry.remove(standardPath(of: name))
      try? DirectoryEntry.removeDirectory("\(standardDirectory)/\(name)")
    }
  }
}
