import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import LinuxSystem
import StateDirectory

/// `authbroker stop`.
enum StopCommand: Command {
  static let name = "stop"
  static let about = CommandDescription(
    summary: "Stop the broker",
    details: """
      Sessions are kept. Returns when the broker has ended and its state directory is free; where none is running there
      is nothing to do. A broker of yours that is not on its socket, or to which access to the state directory cannot be
      proven (it was removed, say), is sent SIGTERM. A broker whose vault cannot be written does not stop before the
      newest tokens are saved. Refreshes and logins that a provider has not answered yet are waited for, 25 seconds at
      most: their answers come only once.
      """,
    options: [
      .flag("--discard-unsaved", "stop although the newest tokens are not saved"),
      .flag("--now", "wait for nothing: sessions whose refresh is under way may be lost"),
    ],
    examples: ["authbroker stop"])

  /// How long a broker may take to end: it awaits refreshes that are under way, and closes the vault.
  private static let longestEnd = Duration.seconds(45)
  /// How long a broker that owns the directory may not be on its socket: it is just starting or ending.
  private static let longestSilence = Duration.seconds(5)

  /// Tells the broker to end and waits until it has.
  static func run(_ context: Context) throws(CommandFailure) {
    let lock = try context.paths().ownerLock
    let deadline = BootClock.now + longestEnd
    var signalTime = BootClock.now + longestSilence
    // By a message or by a signal.
    var wasTold = false
    while true {
      if let connection = try connection(context, isOwned: FileLock.isHeld(lock)) {
        wasTold = true
        if try stop(connection, context) { return context.finish("the broker has stopped") }
      }
      guard FileLock.isHeld(lock) else {
        return context.finish(wasTold ? "the broker has stopped" : "no broker is running")
      }
      guard BootClock.now < deadline else { throw hasNotEnded(OwnerRecord.owner(of: lock)?.pid) }
      if BootClock.now >= signalTime {
        // A second SIGINT ends the broker at once.
        let isImmediate = context.arguments.has("--now")
        signalTime = isImmediate ? BootClock.now + longestSilence : deadline
        wasTold = signal(lock, isImmediate ? .interrupt : .terminate) || wasTold
      }
      rest()
    }
  }

  /// Connects to the broker that runs; nil where none is on its socket.
  private static func connection(
    _ context: Context, isOwned: Bool
  ) throws(CommandFailure) -> BlockingConnection? {
    let connector = try context.connector(mayStart: false)
    do throws(ConnectError) {
      let connection = try connector.connect()
      context.warn(of: connection.owner)
      return context.connection(connection)
    } catch {
      switch error {
      case .notRunning(_, startable: true), .ownerDoesNotAnswer: return nil
      // A queue that is full, or the like: its owner may still be told by a signal.
      case .unreachable where isOwned, .otherState where isOwned: return nil
      default: throw CommandFailure(error)
      }
    }
  }

  /// Tells the broker to end and waits until it has.
  ///
  /// - Returns: false for a broker that was ending already and so does not answer any more.
  private static func stop(
    _ connection: consuming BlockingConnection, _ context: Context
  ) throws(CommandFailure) -> Bool {
    let owner = connection.owner
    let lock = try context.paths().ownerLock
    do throws(CommandFailure) {
      let params = StopBroker.Params(
        discardsUnsaved: context.arguments.has("--discard-unsaved"), isImmediate: context.arguments.has("--now"))
      let result = try context.call(StopBroker.self, params, on: &connection, within: longestSilence)
      if let sentence = sentence(on: result) { context.notice(sentence) }
    } catch {
      switch error.exitCode {
      case .brokerUnreachable where owner != nil: return false
      // A proof is not to be had, or not to be read: to signal a process of one's own, none is needed.
      case .accessDenied where owner != nil && signal(lock): break
      case .accessDenied where signalPeer(&connection, context): break
      default: throw error
      }
    }
    do throws(ClientError) { try connection.awaitEnd(timeout: longestEnd) } catch { throw hasNotEnded(owner?.pid) }
    if let owner { try awaitEnd(of: owner, try context.paths()) }
    return true
  }

  /// The message about the calls that the broker waits for; nil where it waits for none.
  private static func sentence(on result: StopBroker.Result) -> Message? {
    guard let count = result.awaited else { return nil }
    let limit = result.longestWait.map { " (at most \($0.components.seconds) s)" } ?? ""
    let noun = count == 1 ? "refresh or login" : "refreshes or logins"
    return Message(
      "waiting for \(count) \(noun) under way\(limit)",
      next: NextCommand("to lose them and stop at once", "stop", "--now"))
  }

  private static func hasNotEnded(_ pid: Int32?) -> CommandFailure {
    let name = pid.map { " (pid \($0))" } ?? ""
    let end = pid.map { "; kill -KILL \($0) ends it, and loses what it has not saved" } ?? ""
    return CommandFailure(.failure, "the broker\(name) was told to stop and has not ended yet\(end)")
  }

  /// Waits until the lock of the state directory is free or another owner has taken it: only then may the next one start.
  private static func awaitEnd(of owner: OwnerRecord, _ paths: StatePaths) throws(CommandFailure) {
    let deadline = BootClock.now + longestEnd
    while FileLock.isHeld(paths.ownerLock) {
      if let next = OwnerRecord(at: paths.ownerLock), next != owner { return }
      guard BootClock.now < deadline else { throw hasNotEnded(owner.pid) }
      rest()
    }
  }

  /// Sends a signal, upon which a broker ends in order, to the process that holds the lock, and to no other one that
  /// has its number, or locks a file of the same number elsewhere.
  private static func signal(_ lock: String, _ signal: Signal = .terminate) -> Bool {
    guard let owner = OwnerRecord.owner(of: lock) else { return false }
    return send(signal, to: owner)
  }

  /// Sends a signal to a process, which may have been stopped by another one, and lets it go on then.
  private static func send(_ signal: Signal, to process: ProcessHandle) -> Bool {
    guard (try? process.send(signal)) != nil else { return false }
    try? process.send(.goOn)
    return true
  }

  /// Sends SIGTERM to the process at the other end, where the broker says that it is this one: so not to a relay.
  private static func signalPeer(_ connection: inout BlockingConnection, _ context: Context) -> Bool {
    // Opened before the broker is asked, which therefore had this number at that time.
    guard let pid = connection.peer, let process = try? ProcessHandle(pid),
      let status = try? context.call(GetStatus.self, Empty(), on: &connection, within: longestSilence),
      status.pid == Int(pid)
    else { return false }
    return send(.terminate, to: process)
  }

  /// Another process's end, and the release of a lock, cannot be waited for.
  private static func rest() {
    var pause = PollSet(count: 1)
    _ = try? pause.wait(atMost: .milliseconds(2))
  }
}
