package import LinuxSystem
package import SecretMemory

/// A program of the user's that prints the secret, such as a password manager's.
package struct KeyCommand: Sendable {
  /// Why there is no secret; the program is named by the first word of the command only.
  package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// No program is configured.
    case notConfigured
    /// No directory of `PATH` has such a program.
    case notFound(program: String)
    /// The system refused to start it, or to tell of it.
    case notStarted(program: String, Errno)
    /// It ended with another status than 0; from 128 on, a signal ended it.
    case failed(program: String, status: Int32)
    /// It did not end in time, and was ended.
    case timedOut(program: String, Duration)
    /// It printed nothing.
    case empty(program: String)
    /// It printed more than any secret that is taken, and was ended.
    case tooLong(program: String)

    /// One sentence, and what to do; nothing that the program printed.
    package var description: String {
      switch self {
      case .notConfigured: "No command is configured for the vault's key; name one with vault.command."
      case .notFound(let program):
        "The command \(program) for the vault's key was not found; install it, or configure its absolute path."
      case .notStarted(let program, .accessDenied):
        "The command \(program) for the vault's key may not be executed; run chmod +x on it, or name its interpreter."
      case .notStarted(let program, let error): "The command \(program) for the vault's key cannot be run: \(error)."
      case .failed(let program, let status):
        "The command \(program) for the vault's key exited with status \(status); run it by hand to see why."
      case .timedOut(let program, let limit):
        "The command \(program) for the vault's key did not exit within \(limit); "
          + "run it by hand, or raise vault.commandTimeoutSeconds."
      case .empty(let program):
        "The command \(program) for the vault's key printed nothing; run it by hand to see what it prints."
      case .tooLong(let program):
        "The command \(program) for the vault's key printed more than \(RetrievedSecret.byteLimit) bytes; "
          + "print the secret only."
      }
    }
  }

  private let command: UserProgram
  private let timeLimit: Duration
  private let byteLimit: Int

  /// Plans a run; nothing is executed yet.
  ///
  /// - Throws: `KeySourceError.command` when no program is configured.
  package init(_ settings: KeySourceSettings) throws(KeySourceError) {
    guard let command = UserProgram(settings.command, environment: settings.environment) else {
      throw .command(.notConfigured)
    }
    self.command = command
    timeLimit = settings.commandTimeout
    byteLimit = settings.byteLimit
  }

  /// Runs the program and reads its output, without one newline at its end, into locked memory.
  ///
  /// - Throws: `KeySourceError.command`, `.secretMemoryExhausted`; the program is not running any more then.
  package func run() throws(KeySourceError) -> Secret {
    do {
      let (buffer, count) = try output()
      guard let secret = try RetrievedSecret.trimmed(buffer, count: count) else {
        throw Failure.empty(program: program)
      }
      return secret
    } catch let failure as Failure {
      throw .command(failure)
    } catch let error as Errno {
      throw .command(.notStarted(program: program, error))
    } catch { throw .secretMemoryExhausted }
  }

  private func output() throws -> (buffer: Secret, count: Int) {
    let deadline = BootClock.now + timeLimit
    return try FileDescriptor.pipe().ends { readEnd, writeEnd in
      try readEnd.setNonBlocking()
      let child = try start(output: writeEnd)
      writeEnd.close()
      let printed: (buffer: Secret, count: Int)
      do {
        printed = try collect(from: readEnd, of: child, until: deadline)
      } catch {
        child.killGroup()
        _ = try? child.wait()
        throw error
      }
      let status = try child.wait()
      guard status == 0 else { throw Failure.failed(program: program, status: status) }
      return printed
    }
  }

  private var program: String { command.name }

  private func start(output: borrowing FileDescriptor) throws -> ChildProcess {
    let input = try FileDescriptor.open("/dev/null", .read)
    let discarded = try FileDescriptor.open("/dev/null", .write)
    let child = try command.start([(input.number, 0), (output.number, 1), (discarded.number, 2)])
    guard let child else { throw Failure.notFound(program: program) }
    return child
  }

  /// Reads the program's output into locked memory.
  private func collect(
    from stream: borrowing FileDescriptor, of child: ChildProcess, until deadline: Duration
  ) throws -> (buffer: Secret, count: Int) {
    var filled = 0
    do throws(SecretInitializationFailure<any Error>) {
      let buffer = try Secret(byteCount: byteLimit + 1) { target throws(any Error) in
        let hasEnded = try child.readOutput(of: stream, until: deadline) {
          let result = stream.read(into: &target, at: filled)
          if case .bytes(let count) = result { filled += count }
          guard filled <= byteLimit else { throw Failure.tooLong(program: program) }
          return result
        }
        guard hasEnded else { throw Failure.timedOut(program: program, timeLimit) }
      }
      return (buffer, filled)
    } catch {
      switch error {
      case .exhausted: throw SecretMemoryExhausted()
      case .body(let failure): throw failure
      }
    }
  }
}
