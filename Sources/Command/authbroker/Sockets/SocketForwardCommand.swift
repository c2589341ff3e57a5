import AuthBrokerClient
import BrokerProtocol
import LinuxSystem

/// `authbroker socket forward`.
enum SocketForwardCommand: Command {
  static let name = "socket forward"
  static let about = CommandDescription(
    operands: "HOST PROFILE [PROFILE...]",
    summary: "Carry a limited socket to another machine by ssh, while this runs",
    details: """
      Opens a socket, and runs `ssh -N -R` with it; programs on HOST find it by AUTHBROKER_SOCKET, which is told on
      standard error. The socket is closed when ssh ends, and ssh ends with the time of --for. The tokens that are asked
      for there leave this machine, and its sessions do not.

      The broker sees ssh as the client, not the programs on HOST: all of HOST's programs that may open the socket there
      have what it gives. With a --remote of your own, sshd there needs `StreamLocalBindUnlink yes` (sshd_config(5)), or
      the path that a broken connection has left is in the way.
      """,
    options: [
      .value("--remote", "PATH", "the path on HOST (/tmp/authbroker-ID.sock)"),
      .value("--ssh-option", "OPTION", "an option for ssh -o; may be repeated"),
      .flag("--print", "open the socket, and print the line for ssh"),
    ] + SocketDraft.options,
    operandCompletion: Completion.none,
    examples: [
      "authbroker socket forward build.example.com work --for 8h",
      "authbroker socket forward --print build.example.com work",
    ])

  /// Opens the socket, and runs ssh or prints its line.
  static func run(_ context: Context) throws(CommandFailure) {
    let (arguments, operands) = (context.arguments, context.arguments.operands)
    let draft = try SocketDraft(context, operands.dropFirst())
    guard let first = operands[0].utf8.first, first != UInt8(ascii: "-") else {
      throw .usage("HOST is a host as ssh takes one, not \(operands[0].shellQuoted)")
    }
    if let remote = arguments["--remote"], !PathName.isAbsolute(remote) || remote.utf8.contains(UInt8(ascii: ":")) {
      throw .usage("--remote needs an absolute path without a colon, not \(remote.shellQuoted)")
    }
    // Before the socket is opened: without ssh there is no use for it.
    let program = SearchPath.program("ssh", context.environment.all) { $0.isProgram }
    guard arguments.has("--print") || program != nil else {
      throw CommandFailure(.failure, "ssh is not installed; install openssh-client")
    }
    var connection = try context.connect()
    let socket = try context.call(OpenSocket.self, draft.params, on: &connection)
    let remote = arguments["--remote"] ?? "/tmp/authbroker-\(socket.socketID).sock"
    let options = arguments.all("--ssh-option").flatMap { ["-o", $0] }
    let words =
      ["-N", "-o", "ExitOnForwardFailure=yes"] + options + ["-R", "\(remote):\(socket.path)", "--", operands[0]]
    tell(context, socket, remote, words)
    guard !arguments.has("--print"), let program else { return }
    let held = try HeldSignals()
    let deadline = BootClock.now + draft.params.lifetime
    let ending: CommandFailure?
    do throws(CommandFailure) {
      ending = try SecureShell(program, words, context).end(at: deadline, or: held)
    } catch { ending = error }
    // Where the broker has gone, the socket has as well.
    _ = try? context.call(CloseSocket.self, .init(socketID: socket.socketID), on: &connection)
    // Until here: no other signal ends this before the socket is closed.
    held.release()
    if let ending { throw ending }
  }

  private static func tell(_ context: Context, _ socket: OpenSocket.Result, _ remote: String, _ words: [String]) {
    let line = (["ssh"] + words).map { $0.shellQuoted }.joined(separator: " ")
    if context.wantsJSON {
      context.printJSON([
        ("socketId", socket.socketID), ("path", socket.path), ("remotePath", remote), ("command", line),
      ])
    } else if context.arguments.has("--print") {
      Output.line(line)
    }
    let host = context.arguments.operands[0].shellQuoted
    let setting = "on \(host): export AUTHBROKER_SOCKET=\(remote.shellQuoted)"
    guard context.arguments.has("--print") else { return Output.notice(setting) }
    context.notice(Message(setting, next: NextCommand("close it with", "socket", "close", socket.socketID)))
  }
}

/// A running ssh, at this program's terminal.
private struct SecureShell {
  /// How long it may take to end.
  private static let patience = Duration.seconds(5)
  /// The longest wait at a time: more milliseconds than fit are none.
  private static let longestWait = Duration.seconds(86400)

  private let child: ChildProcess

  /// Starts it.
  init(_ program: String, _ words: [String], _ context: Context) throws(CommandFailure) {
    var plan = ChildProcess.Plan(path: program, arguments: words, environment: context.environment.all)
    plan.descriptors = [(0, 0), (1, 1), (2, 2)]
    do throws(Errno) { child = try ChildProcess(plan) } catch {
      throw CommandFailure(.failure, "ssh cannot be started: \(error)")
    }
  }

  /// Waits for its end, a signal, or the end of its time, and ends it.
  ///
  /// - Returns: how this program ends; nil for a success.
  func end(at deadline: Duration, or held: borrowing HeldSignals) throws(CommandFailure) -> CommandFailure? {
    do throws(Errno) {
      let exit = try child.endDescriptor()
      var poll = PollSet(count: 2)
      poll.watch(0, exit.number, readable: true)
      poll.watch(1, held.pending.descriptor.number, readable: true)
      while BootClock.now < deadline,
        try poll.wait(atMost: min(deadline - BootClock.now, Self.longestWait)) == 0
      {}
      let (hasEnded, signal) = (poll.isReady(0), held.next())
      if !hasEnded { try? Signal.terminate.send(to: child.pid) }
      poll.watch(1, -1)
      if try poll.wait(atMost: Self.patience) == 0 { try? Signal.kill.send(to: child.pid) }
      let code = try child.wait()
      if let signal {
        var failure = CommandFailure.quiet(.failure)
        failure.signal = signal
        return failure
      }
      if !hasEnded { return CommandFailure(.failure, "the time of the socket is over (--for)") }
      return code == 0 ? nil : CommandFailure(.failure, "ssh has ended with code \(code)")
    } catch {
      throw CommandFailure(.failure, "ssh cannot be waited for: \(error)")
    }
  }
}
