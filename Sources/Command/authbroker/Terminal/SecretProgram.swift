import LinuxSystem
import SecretMemory

/// A program that prints a secret: its first line counts.
struct SecretProgram {
  /// The longest output that is read.
  static let longest = 64 * 1024
  /// How long a program that is told to end may take, before it is killed: enough to set a terminal right.
  private static let grace = Duration.seconds(1)

  /// The way in which a program ended.
  enum Ending {
    /// By itself, with an exit code.
    case ended(Int32)
    /// By itself and with the exit code 0, without a word.
    case printedNothing
    /// It printed more than is read.
    case isTooLong
    /// It took too long, and was ended.
    case isLate
  }

  /// The command, for the shell.
  let command: String
  /// The environment of the program.
  let environment: [String: String]
  /// The uptime at which it must have ended; nil: it may take as long as it likes.
  let deadline: Duration?

  /// Runs it to its end, whatever that is.
  ///
  /// It stays in this program's group of processes, since it may ask at the terminal.
  ///
  /// - Parameter line: where the first line goes, without its end; the caller wipes it.
  /// - Returns: how it ended.
  /// - Throws: what the kernel says where it cannot be started or waited for.
  func run(into line: inout [UInt8]) throws(Errno) -> Ending {
    try FileDescriptor.pipe().ends { (readEnd, writeEnd) throws(Errno) in
      var plan = ChildProcess.Plan(path: "/bin/sh", arguments: ["-c", command], environment: environment)
      plan.descriptors = [(0, 0), (writeEnd.number, 1), (2, 2)]
      let child = try ChildProcess(plan)
      writeEnd.close()
      var output: [UInt8] = []
      // All at once: an array that grows leaves its bytes behind.
      output.reserveCapacity(Self.longest + 1)
      defer { wipe(&output) }
      // To the end, so that a command that says more is not killed for it.
      guard try readAll(of: readEnd, to: &output) else { return try end(child) }
      guard output.count <= Self.longest else { return .isTooLong }
      guard try hasEnded(child) else { return try end(child) }
      let code = try child.wait()
      guard code == 0, !output.isEmpty else { return code == 0 ? .printedNothing : .ended(code) }
      Self.takeFirstLine(of: output, into: &line)
      return .ended(0)
    }
  }

  /// - Returns: false if the time was over first.
  private func readAll(of stream: borrowing FileDescriptor, to output: inout [UInt8]) throws(Errno) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 4096)
    defer { wipe(&chunk) }
    while output.count <= Self.longest {
      guard try isReady(stream) else { return false }
      guard case .bytes(let count) = stream.read(into: &chunk) else { break }
      output.append(contentsOf: chunk[..<min(count, Self.longest + 1 - output.count)])
    }
    return true
  }

  /// - Returns: false if the time was over first.
  private func hasEnded(_ child: ChildProcess) throws(Errno) -> Bool {
    if deadline == nil { return true }
    let exit = try child.endDescriptor()
    return try isReady(exit)
  }

  /// Waits until a descriptor is readable.
  ///
  /// - Returns: false if the time was over first.
  private func isReady(_ descriptor: borrowing FileDescriptor) throws(Errno) -> Bool {
    var poll = PollSet(count: 1)
    poll.watch(0, descriptor.number, readable: true)
    let left = deadline.map { max(.zero, $0 - BootClock.now) }
    return try poll.wait(atMost: left) > 0
  }

  /// Ends it with all that it has started, parents first, so that no shell goes on with its next command.
  private func end(_ child: ChildProcess) throws(Errno) -> Ending {
    let tree = child.tree
    for process in tree { try? process.send(.terminate) }
    var poll = PollSet(count: 1)
    let exit = try child.endDescriptor()
    poll.watch(0, exit.number, readable: true)
    if try poll.wait(atMost: Self.grace) == 0 {
      for process in tree { try? process.send(.kill) }
    }
    try child.wait()
    return .isLate
  }

  private static func takeFirstLine(of output: [UInt8], into line: inout [UInt8]) {
    line.reserveCapacity(output.count)
    line.append(contentsOf: output.prefix { $0 != UInt8(ascii: "\n") })
    if line.last == UInt8(ascii: "\r"), line.count < output.count { line.removeLast() }
  }
}
