import BrokerProtocol
import LinuxSystem

/// One run of a hook's program: the event on its standard input, its output discarded, ended in time.
struct HookRun {
  /// Why a run was no success.
  enum Failure: Error, Hashable {
    /// No directory of `PATH` has such a program.
    case notFound
    /// It may not be executed.
    case notExecutable
    /// The system has no room for it, or does not know it.
    case notStarted(Errno)
    /// It ended with another status than 0; from 128 on, a signal ended it.
    case failed(status: Int32)
    /// It did not end in time, and was ended.
    case timedOut
  }

  private let program: UserProgram
  private let line: [UInt8]
  private let timeLimit: Duration
  private let grace: Duration

  /// A run for an event; nil where the hook has no command.
  init?(_ hook: Hook, _ event: BrokerEvent, environment: [String: String], grace: Duration) {
    guard let program = UserProgram(hook.command(for: event), environment: environment) else { return nil }
    self.program = program
    line = Hook.line(event)
    timeLimit = hook.timeLimit
    self.grace = grace
  }

  /// Runs the program and waits for its end; what it left running in the background is not waited for.
  func run() throws(Failure) {
    let status: Int32?
    do throws(Errno) { status = try execute() } catch {
      throw error == .accessDenied ? .notExecutable : error == .noEntry ? .notFound : .notStarted(error)
    }
    guard let status else { throw .timedOut }
    guard status == 0 else { throw .failed(status: status) }
  }

  /// The exit status; nil where the program took too long.
  private func execute() throws(Errno) -> Int32? {
    let deadline = BootClock.now + timeLimit
    let input = try MemoryFile(line.span)
    let nowhere = try FileDescriptor.open("/dev/null", .write)
    let started = try program.start([(input.descriptor.number, 0), (nowhere.number, 1), (nowhere.number, 2)])
    guard let child = started else { throw .noEntry }
    do throws(Errno) { return try Self.end(of: child, reading: input, by: deadline, grace) } catch {
      child.killGroup()
      _ = try? child.wait()
      throw error
    }
  }

  /// Waits for the end, or brings it about; `input` has its content until then.
  private static func end(
    of child: ChildProcess, reading input: borrowing MemoryFile, by deadline: Duration, _ grace: Duration
  ) throws(Errno) -> Int32? {
    if try child.hasEnded(by: deadline) { return try child.wait() }
    child.terminateGroup()
    _ = try child.hasEnded(by: BootClock.now + grace)
    child.killGroup()
    _ = try child.wait()
    return nil
  }
}
