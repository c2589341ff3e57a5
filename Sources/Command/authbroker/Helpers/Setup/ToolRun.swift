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
  /// The output on standard output.
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
      var process = try ToolProcess(
        ChildProcess.Plan(path: path, arguments: arguments, environment: environment), input: secret)
      output = try Self.output(of: process, until: started + limit, longest)
      code = try process.code()
    } catch {
      throw CommandFailure(.failure, "\(path.shellQuoted) cannot be run to its end: \(error)")
    }
  }

  /// The output of a program until it ends; it is killed where the time is over.
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

/// A tool that runs in a session of its own, where it can ask at no terminal; it is ended with the value.
struct ToolProcess: ~Copyable {
  /// The output; reading does not wait.
  let output: FileDescriptor
  /// Readable once it has ended.
  let end: FileDescriptor
  private let child: ChildProcess
  private let input: MemoryFile
  private var isTaken = false

  /// Starts a tool, whose standard error goes nowhere.
  ///
  /// - Parameters:
  ///   - plan: the program, what follows its name, and its environment.
  ///   - bytes: all of its standard input.
  /// - Throws: what a system call says, where it cannot be run.
  init(_ plan: ChildProcess.Plan, input bytes: Span<UInt8>) throws(Errno) {
    let (read, write) = try FileDescriptor.pipe().ends { ($0.release(), $1.release()) }
    let output = FileDescriptor(owning: read)
    // This end alone: a tool that prints faster than it is read must wait, not fail.
    try output.setNonBlocking()
    let printing = FileDescriptor(owning: write)
    let nothing = try FileDescriptor.open("/dev/null", .write)
    let input = try MemoryFile(bytes)
    var plan = plan
    plan.descriptors = [(input.descriptor.number, 0), (printing.number, 1), (nothing.number, 2)]
    plan.newSession = true
    let child = try ChildProcess(plan)
    do throws(Errno) { end = try child.endDescriptor() } catch {
      Self.stop(child)
      throw error
    }
    self.output = output
    self.input = input
    self.child = child
  }

  deinit { if !isTaken { Self.stop(child) } }

  private static func stop(_ child: ChildProcess) {
    child.killGroup()
    _ = try? child.wait()
  }

  /// Ends it and everything that it left running in its group.
  func kill() { child.killGroup() }

  /// Waits for its end and takes the exit code, once: 128 and the number of the signal, where one ended it.
  mutating func code() throws(Errno) -> Int32 {
    isTaken = true
    return try child.wait()
  }
}
