package import LinuxSystem
package import StateDirectory

/// Finds the broker of a state directory and connects to it; starts one if there is none and that is allowed.
///
/// Where it looks, in order: `AUTHBROKER_SOCKET` (then nothing is ever started); the socket that the owner wrote into
/// its lock file; the usual socket; a new owner. The peer's user is checked before a byte is sent: ``ServerUser``.
package struct BrokerConnector: Sendable {
  /// A connection, and the record of the broker at its other end.
  package struct Connection: ~Copyable {
    /// A connected, blocking socket.
    package let descriptor: FileDescriptor
    /// The record of the broker that listens there, if it left one.
    ///
    /// A client of another version warns once.
    package let owner: OwnerRecord?
    /// True if this call started the broker.
    package let wasStarted: Bool
    /// The state directory that was looked into, whose owner alone gets a proof of access to it.
    package let state: String

    /// Gives the socket away.
    package consuming func socket() -> FileDescriptor { descriptor }

    /// The same, started by this call.
    consuming func markedAsStarted() -> Connection {
      let (owner, state) = (self.owner, self.state)
      return Connection(descriptor: socket(), owner: owner, wasStarted: true, state: state)
    }
  }

  private let paths: StatePaths
  private let fixedSocket: String?
  private let fixedUser: String
  private let launcher: OwnerLauncher?

  /// Prepares to connect.
  ///
  /// - Parameters:
  ///   - paths: of the state directory.
  ///   - environment: `AUTHBROKER_SOCKET`, and `AUTHBROKER_SERVER_UID` beside it.
  ///   - launcher: starts an owner on demand; nil: never.
  package init(paths: StatePaths, environment: EnvironmentVariables, launcher: OwnerLauncher?) {
    self.paths = paths
    let fixed = environment["AUTHBROKER_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    fixedSocket = fixed
    fixedUser = fixed == nil ? "" : environment[ServerUser.variable] ?? ""
    self.launcher = fixed == nil ? launcher : nil
  }

  /// The socket to try where no broker has left a record: `AUTHBROKER_SOCKET`, or the usual socket.
  package var usualSocket: String { fixedSocket ?? paths.socket }

  /// Connects.
  ///
  /// - Throws: a sentence for the user. A chosen configuration that the owner does not use is refused.
  package func connect() throws(ConnectError) -> Connection {
    if let fixedSocket {
      guard let socket = try open(fixedSocket, of: ServerUser(named: fixedUser)) else {
        throw .notRunning(socket: fixedSocket, startable: false)
      }
      return connection(socket, nil)
    }
    if let found = try find() { return found }
    guard let launcher else { throw absence }
    return try launcher.start(paths) { () throws(ConnectError) in try find() }
  }

  /// Why there is no connection where no broker may be started.
  private var absence: ConnectError {
    guard FileLock.isHeld(paths.ownerLock) else { return .notRunning(socket: paths.socket, startable: true) }
    let record = OwnerRecord(at: paths.ownerLock)
    return .ownerDoesNotAnswer(pid: record?.pid, state: paths.state, socket: record?.socket ?? paths.socket)
  }

  /// Connects to an owner that is there already; nil if there is none.
  ///
  /// - Throws: a sentence for the user. An owner of another state directory is refused.
  package func find() throws(ConnectError) -> Connection? {
    let record = OwnerRecord(at: paths.ownerLock)
    if let record, let socket = try open(record.socket), isOwner(record, behind: socket) {
      try check(record)
      return connection(socket, record)
    }
    // A service manager's socket is there before its owner is, and so before any record. Without one, the socket may as
    // well be another owner's: several state directories share it where only the home or `XDG_STATE_HOME` differs.
    guard try isServed(at: paths.socket), let socket = try open(paths.socket) else { return nil }
    return connection(socket, nil)
  }

  private func connection(_ socket: consuming FileDescriptor, _ owner: OwnerRecord?) -> Connection {
    Connection(descriptor: socket, owner: owner, wasStarted: false, state: paths.state)
  }

  /// Whether a record is the one of a living owner: one that was killed leaves its record behind, and its socket's path
  /// may be another owner's by now.
  private func isOwner(_ record: OwnerRecord, behind socket: borrowing FileDescriptor) -> Bool {
    // Behind a socket that a service manager opened, the kernel names the manager's process.
    (try? PeerCredentials(of: socket).pid) == record.pid || FileLock.isHeld(paths.ownerLock)
  }

  private func check(_ record: OwnerRecord) throws(ConnectError) {
    guard paths.isConfigurationChosen, let wanted = paths.configuration else { return }
    guard record.configuration != wanted else { return }
    throw .otherConfiguration(owner: record.configuration, wanted: wanted)
  }

  /// Whether a broker listens; a broker that says that it serves another state directory is refused.
  private func isServed(at path: String) throws(ConnectError) -> Bool {
    guard let socket = try open(path) else { return false }
    let answer: String?
    do throws(Errno) { answer = try StateProbe.stateDirectory(behind: socket) } catch {
      switch error {
      // It ends at this moment, which the first request shows.
      case .brokenPipe, .connectionReset: return true
      default: throw .unreachable(socket: path, error)
      }
    }
    guard let served = answer, !isState(served) else { return true }
    throw .otherState(owner: served, wanted: paths.state, socket: path)
  }

  /// Whether a path leads to the state directory, under whatever name.
  private func isState(_ path: String) -> Bool {
    guard path != paths.state else { return true }
    guard let one = try? FileStatus.following(path), let other = try? FileStatus.following(paths.state) else {
      return false
    }
    return one.identity == other.identity
  }

  /// Nil if no broker listens.
  private func open(_ path: String, of user: ServerUser = .own) throws(ConnectError) -> FileDescriptor? {
    do throws(Errno) {
      let socket = try UnixSocket.connect(to: path, boundsSending: true)
      let peer = try PeerCredentials(of: socket)
      guard user.isTrusted(peer.uid) else { throw Errno.notPermitted }
      return socket
    } catch {
      switch error {
      case .noEntry, .connectionRefused, .notDirectory: return nil
      case .notPermitted: throw .foreignPeer(socket: path, uid: foreignUser(path))
      default: throw .unreachable(socket: path, error)
      }
    }
  }

  private func foreignUser(_ path: String) -> UInt32 {
    guard let socket = try? UnixSocket.connect(to: path) else { return .max }
    return (try? PeerCredentials(of: socket).uid) ?? .max
  }
}
