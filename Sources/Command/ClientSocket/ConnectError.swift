package import LinuxSystem
internal import StateDirectory

/// Why a client program has no connection to a broker.
///
/// Each description says what to do next.
package enum ConnectError: Error, Equatable, Sendable, CustomStringConvertible {
  /// No broker listens on the socket that was asked for, and none is to be started.
  case notRunning(socket: String, startable: Bool)
  /// Something is there, but no connection came about.
  case unreachable(socket: String, Errno)
  /// The other end of the socket belongs to another user.
  case foreignPeer(socket: String, uid: UInt32)
  /// `AUTHBROKER_SERVER_UID` names no user.
  case unknownServerUser(String)
  /// The state directory cannot be used.
  case stateDirectory(PrivateDirectory.Refusal)
  /// The owner uses another configuration than the one that was asked for.
  case otherConfiguration(owner: String?, wanted: String)
  /// The broker on the socket serves another state directory than the one that was asked for.
  case otherState(owner: String, wanted: String, socket: String)
  /// A process has owned the state directory for longer than a start takes, and does not answer.
  case ownerDoesNotAnswer(pid: Int32?, state: String, socket: String)
  /// The file that a daemon's messages go to cannot be written.
  case log(path: String, Errno)
  /// Another client has been starting an owner for too long.
  case startIsStuck(lock: String)
  /// The lock of a start, which is in the state directory, cannot be taken.
  case startLock(FileLock.Refusal)
  /// There is no daemon to start.
  case noDaemon(path: String, Errno)
  /// The daemon was started and said why it cannot go on.
  case startRefused(code: String, reason: String)
  /// The daemon was started and ended, or gave no word for too long.
  case startFailed(log: String, lastLine: String)
  /// The program that was started as the daemon printed nothing at all.
  case startWasSilent(daemon: String, log: String)

  /// The reason and, where it does not tell it by itself, the remedy; without a full stop.
  package var description: String { remedy.map { reason + "; " + $0 } ?? reason }

  /// The remedy, for programs that have no better way to say it.
  private var remedy: String? {
    switch self {
    case .notRunning(_, startable: true): "start one"
    case .otherConfiguration: "stop it to change over"
    case .ownerDoesNotAnswer(pid: _?, _, _): "set AUTHBROKER_SOCKET to its socket, or stop it"
    default: nil
    }
  }

  /// The remedy for a daemon that cannot be started.
  private static func remedy(_ error: Errno) -> String {
    switch error {
    case .tooManyDescriptors: "raise the limit of open files (ulimit -n)"
    case .again: "raise the limit of processes (ulimit -u, or TasksMax of the unit)"
    case _ where error.isShortage: "try again when the machine has room"
    default: "set AUTHBROKER_DAEMON to where it is"
    }
  }

  /// The reason.
  package var reason: String {
    switch self {
    case .notRunning(let socket, true): "no broker listens on \(socket)"
    case .notRunning(let socket, false):
      "no broker listens on \(socket), which AUTHBROKER_SOCKET names; unset it, or start that broker"
    case .unreachable(let socket, .nameTooLong): UnixSocket.Refusal.pathTooLong(socket).description
    case .unreachable(let socket, .again): "no broker answers on \(socket): the one there is stopped or hangs"
    case .unreachable(let socket, let error): "the broker's socket \(socket) cannot be reached: \(error)"
    case .foreignPeer(let socket, let uid):
      "\(socket) is served by user \(uid), who is not trusted; nothing was sent; choose another with --state, or, with "
        + "AUTHBROKER_SOCKET, name that user by \(ServerUser.variable)"
    case .unknownServerUser(let name):
      "\(ServerUser.variable) must be the name or the number of a user, or any, not \(PlainText.line(name.utf8))"
    case .stateDirectory(let refusal): refusal.description
    case .otherConfiguration(let owner, let wanted):
      "the running broker uses the configuration \(owner ?? "(none)"), not \(wanted)"
    case .otherState(let owner, let wanted, let socket):
      "the broker on \(socket) serves the state directory \(PlainText.line(owner.utf8)), not \(wanted); "
        + "choose another socket with --socket, or that directory with --state"
    case .ownerDoesNotAnswer(let pid?, let state, let socket): "the broker (pid \(pid)) of \(state) is not on \(socket)"
    case .ownerDoesNotAnswer(nil, let state, let socket):
      "a broker is starting for \(state) and does not answer on \(socket) yet; try again, or see \(state)/broker.log"
    case .log(let path, let error): "the broker's log \(path) cannot be written: \(error)"
    case .startIsStuck(let lock): "another process has been starting a broker for too long; see who holds \(lock)"
    case .startLock(let refusal): refusal.description
    case .noDaemon(let path, let error): "the daemon \(path) cannot be started: \(error); \(Self.remedy(error))"
    case .startRefused(_, let reason): reason
    case .startFailed(let log, let line): "the broker did not start: \(line) (more in \(log))"
    case .startWasSilent(let daemon, let log):
      "the broker did not start: \(daemon) said nothing; see \(log), and whether AUTHBROKER_DAEMON names the daemon"
    }
  }
}
