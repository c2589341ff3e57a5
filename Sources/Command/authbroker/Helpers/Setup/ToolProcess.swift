import LinuxSystem

/// A tool that runs in a session of its own, where it can ask at no terminal; it is ended with the value.
struct ToolProcess: ~Copyable {
  /// What it prints; reading does not wait.
  let output: FileDescriptor
  /// Readable once it has ended.
  let end: FileDescriptor
  private let child: ChildProcess
  private let input: MemoryFile
  private var isTaken = false

  /// Starts a tool.
  ///
  /// - Parameters:
  ///   - plan: the program, what follows its name, its environment and where it starts.
  ///   - bytes: all of its standard input.
  ///   - joinsErrors: whether its standard error is read as its output; else it goes nowhere.
  /// - Throws: what a system call says, where it cannot be run.
  init(_ plan: ChildProcess.Plan, input bytes: Span<UInt8>, joinsErrors: Bool) throws(Errno) {
    let (read, write) = try FileDescriptor.pipe().ends { ($0.release(), $1.release()) }
    let output = FileDescriptor(owning: read)
    // This end alone: a tool that prints faster than it is read must wait, not fail.
    try output.setNonBlocking()
    let printing = FileDescriptor(owning: write)
    let nothing = try FileDescriptor.open("/dev/null", .write)
    let input = try MemoryFile(bytes)
    var plan = plan
    let errors = joinsErrors ? printing.number : nothing.number
    plan.descriptors = [(input.descriptor.number, 0), (printing.number, 1), (errors, 2)]
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
