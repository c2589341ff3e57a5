package import LinuxSystem
import StateDirectory
import Synchronization

/// Starts the owner of a state directory, once, however many clients want it at the same moment.
///
/// A client takes `start.lock`, looks again whether an owner came up meanwhile, executes the daemon in a session of its
/// own and waits for its word on a pipe. The others wait for the lock and then find the owner. The daemon's own lock
/// decides: if it says that another process owns the directory, that one is waited for.
package struct OwnerLauncher: Sendable {
  /// How long each step may take.
  package struct Limits: Sendable {
    /// For another client's start: longer than that client itself waits (`ready`), so that a start that succeeds is
    /// waited for.
    package var lock = Duration.seconds(20)
    /// For the daemon's first word: it may have a vault to recover.
    package var ready = Duration.seconds(15)
    /// The time that a daemon may take in addition, while the program that prints the vault's key asks a person: as
    /// long as the configuration can let that program have (`vault.commandTimeoutSeconds`).
    package var key = Duration.seconds(600)
    /// For an owner that holds the lock and does not listen yet.
    package var owned = Duration.seconds(5)
    /// Until such an owner may have been one that was just ending, and another start is tried.
    package var retry = Duration.milliseconds(250)

    /// The usual limits.
    package init() {}
  }

  /// The most that a daemon may say on the pipe.
  private static let longestReply = 4096
  /// Daemons that this process started; their exit codes are taken at a later start, so that none remains a zombie.
  private static let started = Mutex<[ChildProcess]>([])

  /// Called before anything is made for an owner that is about to be started.
  package var willStart: @Sendable () -> Void = {}

  private let executable: String?
  private let environment: EnvironmentVariables
  private let limits: Limits

  /// Prepares to start a daemon: `AUTHBROKER_DAEMON`, or `authbrokerd` beside the running program, or the first one in
  /// `PATH`, for a program that only uses the client library.
  ///
  /// - Parameters:
  ///   - environment: what the daemon inherits, as `Environment.forDaemon(_:)` says.
  ///   - executable: the path of the running program; `/proc/self/exe` is asked if it is nil.
  ///   - limits: how long each step may take.
  package init(environment: EnvironmentVariables, executable: String? = nil, limits: Limits = Limits()) {
    self.limits = limits
    // What follows from these is looked for when a daemon is started: most programs find one that runs.
    self.executable = executable
    self.environment = environment
  }

  private var daemon: String { OwnerLauncher.daemon(environment: environment, executable: executable) }

  /// The path of the daemon that would be started.
  ///
  /// - Parameters:
  ///   - environment: `AUTHBROKER_DAEMON` and `PATH`.
  ///   - executable: the path of the running program; `/proc/self/exe` is asked if it is nil.
  /// - Returns: a path beside the running program where nothing better is found.
  package static func daemon(environment: EnvironmentVariables, executable: String? = nil) -> String {
    if let chosen = environment["AUTHBROKER_DAEMON"], !chosen.isEmpty { return chosen }
    let own = executable ?? ProcessIdentity.executable ?? "/usr/bin/authbroker"
    let beside = PathName.directory(of: own) + "/authbrokerd"
    guard (try? FileStatus.following(beside)) == nil else { return beside }
    return SearchPath.program("authbrokerd", environment.all) { $0.kind == .regular } ?? beside
  }

  /// Starts an owner unless `find` finds one.
  ///
  /// - Throws: what kept it from coming up, in the daemon's own words where it said any.
  func start(
    _ paths: StatePaths, find: () throws(ConnectError) -> BrokerConnector.Connection?
  ) throws(ConnectError) -> BrokerConnector.Connection {
    willStart()
    do { _ = try PrivateDirectory(paths.state, create: true) } catch { throw .stateDirectory(error) }
    let lock = try lockStart(paths)
    let result = try startLocked(paths, find)
    // Held until here: who waits for it finds the owner.
    _ = consume lock
    return result
  }

  private func startLocked(
    _ paths: StatePaths, _ find: () throws(ConnectError) -> BrokerConnector.Connection?
  ) throws(ConnectError) -> BrokerConnector.Connection {
    let deadline = BootClock.now + limits.owned
    var pause = limits.retry
    while true {
      if let found = try find() { return found }
      switch try launch(paths) {
      case .ready:
        guard let found = try find() else { throw .notRunning(socket: paths.socket, startable: true) }
        return found.markedAsStarted()
      case .owned:
        // An owner that is coming up will listen soon; one that is going will release its lock, so it is tried again.
        if let found = try wait(until: min(deadline, BootClock.now + pause), find) { return found }
        // Each try starts a daemon, which leaves a line in the log.
        pause *= 2
        guard BootClock.now < deadline else {
          let owner = OwnerRecord(at: paths.ownerLock)
          throw .ownerDoesNotAnswer(pid: owner?.pid, state: paths.state, socket: owner?.socket ?? paths.socket)
        }
      case .refused(let code, let reason):
        throw .startRefused(code: code, reason: reason)
      case .silent(let line):
        // A broker that could not say its word may be there all the same.
        if let found = try find() { return found.markedAsStarted() }
        throw line.map { .startFailed(log: paths.log, lastLine: $0) } ?? .startWasSilent(daemon: daemon, log: paths.log)
      }
    }
  }

  private enum Reply {
    case ready, owned
    case refused(code: String, reason: String)
    case silent(lastLine: String?)
  }

  /// Waits for another client's start; for a long one only while there is an owner that is coming up.
  private func lockStart(_ paths: StatePaths) throws(ConnectError) -> FileLock {
    let deadline = BootClock.now + limits.ready + limits.key
    while true {
      do throws(FileLock.Refusal) {
        return try FileLock(paths.startLock, waitingAtMost: limits.lock)
      } catch {
        switch error {
        case .held:
          guard FileLock.isHeld(paths.ownerLock), BootClock.now < deadline else {
            throw .startIsStuck(lock: paths.startLock)
          }
        case .notOurs, .failed: throw .startLock(error)
        }
      }
    }
  }

  private func launch(_ paths: StatePaths) throws(ConnectError) -> Reply {
    let log = try openLog(paths.log)
    do throws(Errno) {
      let before = try log.status().size
      let word = try spawn(paths, log)
      return reply(from: firstLine(word), lastLine: lastLine(of: paths.log, after: before))
    } catch {
      throw .noDaemon(path: daemon, error)
    }
  }

  private func openLog(_ path: String) throws(ConnectError) -> FileDescriptor {
    do throws(Errno) { return try FileDescriptor.open(path, [.write, .create, .append, .noFollow]) } catch {
      // A broker serves from a full disk what it has; it has no room for a log either.
      guard error.isFullDisk, let null = try? FileDescriptor.open("/dev/null", .write) else {
        throw .log(path: path, error)
      }
      return null
    }
  }

  /// - Returns: the reading end of the pipe on which the daemon gives its word.
  private func spawn(_ paths: StatePaths, _ log: borrowing FileDescriptor) throws(Errno) -> FileDescriptor {
    let null = try FileDescriptor.open("/dev/null", .readWrite)
    return try FileDescriptor.pipe().ends { (readEnd, writeEnd) throws(Errno) in
      var plan = ChildProcess.Plan(
        path: daemon, arguments: arguments(paths), environment: Environment.forDaemon(environment.all))
      plan.descriptors = [(null.number, 0), (null.number, 1), (log.number, 2), (writeEnd.number, 3)]
      plan.newSession = true
      plan.workingDirectory = "/"
      let child = try ChildProcess(plan)
      OwnerLauncher.started.withLock { started in
        started.removeAll { (try? $0.poll()) != .running }
        started.append(child)
      }
      return readEnd
    }
  }

  private func arguments(_ paths: StatePaths) -> [String] {
    var arguments = ["--state", paths.state]
    if paths.isSocketChosen { arguments += ["--socket", paths.socket] }
    if paths.isConfigurationChosen, let configuration = paths.configuration {
      arguments += ["--config", configuration]
    }
    return arguments + ["--on-demand", "--ready-fd", "3"]
  }

  /// Reads until the daemon closes the pipe, says its word, or the time is over, which it may ask to prolong.
  private func firstLine(_ word: borrowing FileDescriptor) -> [UInt8] {
    var deadline = BootClock.now + limits.ready
    var said = [UInt8](repeating: 0, count: OwnerLauncher.longestReply)
    var filled = 0
    var poll = PollSet(count: 1)
    poll.watch(0, word.number, readable: true)
    while filled < said.count {
      let left = deadline - BootClock.now
      guard left > .zero, let ready = try? poll.wait(atMost: left) else { break }
      guard ready > 0 else { continue }
      guard case .bytes(let count) = word.read(into: &said, at: filled) else { break }
      filled += count
      while let end = said[..<filled].firstIndex(of: UInt8(ascii: "\n")) {
        guard let pause = announcedPause(said[..<end]) else { return Array(said[...end]) }
        deadline = BootClock.now + pause + limits.ready
        said = Array(said[(end + 1)...]) + said[...end]
        filled -= end + 1
      }
    }
    return Array(said[..<filled])
  }

  /// How long the daemon waits for its key by what it says, `wait SECONDS`; nil if it says something else.
  private func announcedPause(_ line: ArraySlice<UInt8>) -> Duration? {
    let words = line.split(separator: UInt8(ascii: " ")).map(PlainText.line)
    guard words.count == 2, words[0] == "wait", let seconds = UInt16(words[1]) else { return nil }
    return min(.seconds(Int64(seconds)), limits.key)
  }

  private func reply(from said: [UInt8], lastLine: @autoclosure () -> String?) -> Reply {
    guard said.last == UInt8(ascii: "\n") else { return .silent(lastLine: lastLine()) }
    let words = said.dropLast().split(separator: UInt8(ascii: " "), maxSplits: 2).map(PlainText.line)
    switch words.first {
    case "ready": return .ready
    case "owned": return .owned
    case "error" where words.count > 1 && words[1] == "owned": return .owned
    case "error" where words.count == 3: return .refused(code: words[1], reason: words[2])
    default: return .silent(lastLine: lastLine())
    }
  }

  /// Looks for an owner that holds the lock and does not listen yet; there is nothing else that could be waited for.
  private func wait(
    until deadline: Duration, _ find: () throws(ConnectError) -> BrokerConnector.Connection?
  ) throws(ConnectError) -> BrokerConnector.Connection? {
    var pause = PollSet(count: 1)
    while true {
      if let found = try find() { return found }
      guard BootClock.now < deadline else { return nil }
      _ = try? pause.wait(atMost: .milliseconds(5))
    }
  }

  private func lastLine(of path: String, after offset: Int64) -> String? {
    guard let file = try? FileDescriptor.open(path, [.read, .noFollow]), let size = try? file.status().size else {
      return nil
    }
    let start = max(offset, size - Int64(OwnerLauncher.longestReply))
    guard let bytes = try? file.contents(from: start, limit: OwnerLauncher.longestReply) else { return nil }
    return bytes.split(separator: UInt8(ascii: "\n")).last.map(PlainText.line)
  }
}
