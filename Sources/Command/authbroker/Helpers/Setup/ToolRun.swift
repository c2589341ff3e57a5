import LinuxSystem
import SecretMemory

/// A run of another tool, whose answer is read: it may hold a token, and is wiped by the caller.
struct ToolRun {
  /// How long a tool may take that has everything at hand.
  static let limit = Duration.seconds(20)
  /// The longest answer that is read.
  static let longest = 1 << 20

  /// The exit code, or 128 and the number of the signal that ended it.
  let code: Int32
  /// What it printed on standard output.
  var output: [UInt8]

  /// Runs a tool to its end, in a session of its own: it can ask at no terminal.
  ///
  /// Its standard error goes nowhere.
  ///
  /// - Parameters:
  ///   - path: the program.
  ///   - arguments: what follows its name.
  ///   - input: all of its standard input.
  ///   - environment: the whole environment.
  /// - Throws: a failure where it cannot be started, or does not end in time; it is ended then.
  init(
    _ path: String, _ arguments: [String], input: String = "", environment: [String: String]
  ) throws(CommandFailure) {
    try self.init(path, arguments, secret: Array(input.utf8).span, environment: environment)
  }

  /// The same for a tool that is told a secret.
  ///
  /// - Parameters:
  ///   - path: the program.
  ///   - arguments: what follows its name.
  ///   - secret: all of its standard input.
  ///   - environment: the whole environment.
  ///   - limit: how long it may take.
  ///   - longest: how much it may print; one that prints more is ended.
  /// - Throws: as above.
  init(
    _ path: String, _ arguments: [String], secret: Span<UInt8>, environment: [String: String],
    limit: Duration = Self.limit, longest: Int = Self.longest
  ) throws(CommandFailure) {
    let started = BootClock.now
    do throws(Errno) {
      let plan = ChildProcess.Plan(path: path, arguments: arguments, environment: environment)
      var process = try ToolProcess(plan, input: secret, joinsErrors: false)
      output = try Self.output(of: process, until: started + limit, longest)
      code = try process.code()
    } catch {
      throw CommandFailure(.failure, "\(path.shellQuoted) cannot be run to its end: \(error)")
    }
  }

  /// What a program prints until it ends; it is killed where the time is over.
  private static func output(
    of process: borrowing ToolProcess, until deadline: Duration, _ longest: Int
  ) throws(Errno) -> [UInt8] {
    var output: [UInt8] = []
    // All at once: an array that grows leaves its bytes behind.
    output.reserveCapacity(longest + 4096)
    var chunk = [UInt8](repeating: 0, count: 4096)
    defer { wipe(&chunk) }
    var poll = PollSet(count: 2)
    poll.watch(0, process.output.number, readable: true)
    poll.watch(1, process.end.number, readable: true)
    while output.count < longest {
      let left = deadline - BootClock.now
      guard left > .zero else { break }
      _ = try poll.wait(atMost: left)
      switch process.output.read(into: &chunk) {
      case .bytes(let count): output += chunk[..<count]
      case .wouldBlock where !poll.isReady(1): continue
      case .endOfStream where !poll.isReady(1): poll.watch(0, process.output.number)
      case .wouldBlock, .endOfStream, .failed: return output
      }
    }
    process.kill()
    return output
  }
}
