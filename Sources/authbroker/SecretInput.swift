import ClientSocket
import LinuxSystem
import SecretMemory

/// Where passwords and codes come from: a terminal without echo, standard input, or another program; never an argument.
enum SecretInput {
  /// The longest secret that is read from a pipe.
  private static let longest = 64 * 1024

  /// Asks without echo.
  ///
  /// - Throws: a failure, also if the person interrupts.
  static func ask(_ prompt: String) throws(CommandFailure) -> Secret {
    var entered = try line(prompt, orElse: CommandFailure(.failure, "interrupted: nothing was entered."))
    return try secret(&entered)
  }

  /// Asks for the code of a login that waits for it, again after an empty line.
  ///
  /// - Parameters:
  ///   - prompt: the question.
  ///   - flow: the login, named where the person interrupts: it goes on waiting.
  /// - Returns: the code.
  /// - Throws: a failure with code 3 in that case.
  static func askForCode(_ prompt: String, of flow: String) throws(CommandFailure) -> Secret {
    let command = "authbroker verify-otp " + PlainText.line(flow.utf8)
    let interrupted = CommandFailure(.loginRequired, "the login still waits for its code; answer with: " + command)
    var entered: [UInt8]
    repeat { entered = try line(prompt, orElse: interrupted) } while entered.isEmpty
    return try secret(&entered)
  }

  private static func line(_ prompt: String, orElse interrupted: CommandFailure) throws(CommandFailure) -> [UInt8] {
    do throws(Terminal.Refusal) { return try Terminal.readHiddenLine(prompt: prompt) } catch {
      switch error {
      case .interrupted, .noAnswer: throw interrupted
      case .noTerminal: throw CommandFailure(.usage, "there is no terminal to ask at.")
      case .failed(let error): throw CommandFailure(.failure, "the terminal cannot be used: \(error).")
      }
    }
  }

  /// Reads one line of standard input.
  static func standardInput() throws(CommandFailure) -> Secret {
    let stream = FileDescriptor(owning: 0)
    let line = firstLine(of: stream)
    _ = stream.release()
    guard var line else { throw CommandFailure(.usage, "standard input has no line to read.") }
    return try secret(&line)
  }

  /// Runs a command with the shell and takes the first line of its output.
  static func output(of command: String, _ environment: [String: String]) throws(CommandFailure) -> Secret {
    let result: (line: [UInt8]?, code: Int32?)
    do throws(Errno) { result = try run(command, environment) } catch {
      throw CommandFailure(.failure, "the command of --password-command cannot be run: \(error).")
    }
    guard let code = result.code else {
      throw CommandFailure(.failure, "the command of --password-command printed more than \(longest / 1024) KiB.")
    }
    guard code == 0, var line = result.line else {
      let how = code == 0 ? "printed nothing." : "ended with code \(code)."
      throw CommandFailure(.failure, "the command of --password-command " + how)
    }
    return try secret(&line)
  }

  /// - Returns: the first line, and the exit code; nil for one that said more than anybody reads.
  private static func run(
    _ command: String, _ environment: [String: String]
  ) throws(Errno) -> (line: [UInt8]?, code: Int32?) {
    try FileDescriptor.pipe().ends { (readEnd, writeEnd) throws(Errno) in
      var plan = ChildProcess.Plan(path: "/bin/sh", arguments: ["-c", command], environment: environment)
      plan.descriptors = [(0, 0), (writeEnd.number, 1), (2, 2)]
      let child = try ChildProcess(plan)
      writeEnd.close()
      let line = firstLine(of: readEnd)
      // To the end, so that a command that says more is not killed for it.
      var rest = [UInt8](repeating: 0, count: 4096)
      defer { wipe(&rest) }
      var total = line?.count ?? 0
      while case .bytes(let count) = readEnd.read(into: &rest) {
        total += count
        guard total <= longest else { return (nil, nil) }
      }
      return (line, try child.wait())
    }
  }

  private static func secret(_ line: inout [UInt8]) throws(CommandFailure) -> Secret {
    guard !line.isEmpty else { throw CommandFailure(.usage, "the secret is empty.") }
    guard (try? UTF8Span(validating: line.span)) != nil else {
      wipe(&line)
      throw CommandFailure(.usage, "the secret is not text in UTF-8; nothing was sent.")
    }
    do { return try Secret(wiping: &line) } catch {
      throw CommandFailure(.failure, "the memory for secrets is used up.")
    }
  }

  /// Byte by byte, so that what follows the line stays for others; nil at the end of the stream.
  private static func firstLine(of stream: borrowing FileDescriptor) -> [UInt8]? {
    var line: [UInt8] = []
    line.reserveCapacity(4096)
    var byte: [UInt8] = [0]
    while line.count < longest, case .bytes = stream.read(into: &byte) {
      guard byte[0] != UInt8(ascii: "\n") else {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
      }
      line.append(byte[0])
    }
    return line.isEmpty ? nil : line
  }
}
