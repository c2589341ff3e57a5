import ClientSocket
import LinuxSystem
import StateDirectory

/// The daemon's program, `authbrokerd`, which this process can become.
enum DaemonProgram {
  /// Executes it with the paths that this command line means.
  ///
  /// - Parameters:
  ///   - context: says which state directory, socket and configuration.
  ///   - arguments: what else it is told.
  /// - Throws: a failure, where there is no such program.
  static func become(_ context: Context, _ arguments: [String]) throws(CommandFailure) {
    let all = self.arguments(for: try context.paths()) + arguments
    let program = OwnerLauncher.daemon(environment: context.environment)
    do throws(Errno) {
      try ProcessImage.replace(
        path: program, arguments: all, environment: Environment.forDaemon(context.environment.all))
    } catch { throw CommandFailure(.noDaemon(path: program, error)) }
  }

  /// The report of a daemon's run that only prints something and ends.
  struct Report: Sendable {
    /// The exit code; nil if it did not end in time.
    let code: Int32?
    /// The last line of its output on either stream.
    let text: String
    /// The line of it that is a JSON object; nil where none is.
    var object: String?
  }

  /// How long such a run may take: it reads one file.
  private static let patience = Duration.seconds(10)
  /// The most of it that is read.
  private static let longestReport = 64 * 1024

  /// Runs it to its end and takes what it says.
  ///
  /// - Throws: what posix_spawn(3) says, `ENOENT` where there is no such program.
  static func report(_ context: Context, _ paths: StatePaths, _ arguments: [String]) throws(Errno) -> Report {
    let program = OwnerLauncher.daemon(environment: context.environment)
    let null = try FileDescriptor.open("/dev/null", .readWrite)
    return try FileDescriptor.pipe().ends { (readEnd, writeEnd) throws(Errno) in
      var plan = ChildProcess.Plan(
        path: program, arguments: self.arguments(for: paths) + arguments,
        environment: Environment.forDaemon(context.environment.all))
      plan.descriptors = [(null.number, 0), (writeEnd.number, 1), (writeEnd.number, 2)]
      let child = try ChildProcess(plan)
      writeEnd.close()
      let (said, isWhole) = readAll(readEnd)
      guard isWhole else {
        try Signal(number: 9).send(to: child.pid)
        try child.wait()
        return Report(code: nil, text: "")
      }
      let lines = said.split(separator: UInt8(ascii: "\n"))
      let object = lines.first { $0.first == UInt8(ascii: "{") }
      return Report(
        code: try child.wait(), text: PlainText.line(lines.last ?? []), object: object.map { PlainText.line($0) })
    }
  }

  /// - Returns: what was said, and whether its end was seen.
  private static func readAll(_ stream: borrowing FileDescriptor) -> ([UInt8], Bool) {
    let deadline = BootClock.now + patience
    var said = [UInt8](repeating: 0, count: longestReport)
    var filled = 0
    var poll = PollSet(count: 1)
    poll.watch(0, stream.number, readable: true)
    while filled < said.count {
      let left = deadline - BootClock.now
      guard left > .zero, let ready = try? poll.wait(atMost: left) else { break }
      guard ready > 0 else { continue }
      guard case .bytes(let count) = stream.read(into: &said, at: filled) else { return (Array(said[..<filled]), true) }
      filled += count
    }
    return (Array(said[..<filled]), false)
  }

  private static func arguments(for paths: StatePaths) -> [String] {
    var all = ["--state", paths.state]
    if paths.isSocketChosen { all += ["--socket", paths.socket] }
    if paths.isConfigurationChosen, let configuration = paths.configuration { all += ["--config", configuration] }
    return all
  }
}
