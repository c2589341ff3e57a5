import AuthBrokerClient
import LinuxSystem
import SecretMemory

/// The sources of passwords and codes: a terminal without echo, standard input, or another program; never an argument.
enum SecretInput {
  /// The length of a line from which on it is read no further: such a secret is refused.
  private static let longest = 64 * 1024

  /// The kind of secret, as people call it.
  enum Kind: String {
    case password, passphrase, code, token, secret
    case refreshToken = "refresh token"
  }

  /// Asks without echo.
  ///
  /// - Throws: a failure without a word if the person presses Ctrl-C: it ends the program by that signal.
  static func ask(_ prompt: String, for kind: Kind) throws(CommandFailure) -> Secret {
    var entered = try line(
      prompt, atEnd: CommandFailure(.failure, "no \(kind.rawValue) was entered: the input has ended"),
      interrupted: Message(""))
    return try secret(&entered, kind)
  }

  /// Asks for the code of a login that waits for it, again after an empty line.
  ///
  /// - Parameters:
  ///   - prompt: the question.
  ///   - flow: the login, named where the person does not answer: it goes on waiting.
  /// - Returns: the code.
  /// - Throws: a failure with code 3 at the end of the input; one that ends the program by the signal of Ctrl-C.
  static func askForCode(_ prompt: String, of flow: String) throws(CommandFailure) -> Secret {
    let waiting = Message(
      "the login still waits for its code", next: NextCommand("answer with", "verify-otp", flow))
    let end = CommandFailure(.loginRequired, waiting.behind("no code was entered: the input has ended; "))
    return try askForCode(prompt, atEnd: end, interrupted: waiting)
  }

  /// Asks for a code that nothing waits for once the person goes, again after an empty line.
  ///
  /// - Throws: a failure at the end of the input; one without a word that ends the program by the signal of Ctrl-C.
  static func askForCode(_ prompt: String) throws(CommandFailure) -> Secret {
    let end = CommandFailure(.failure, "no code was entered: the input has ended")
    return try askForCode(prompt, atEnd: end, interrupted: Message(""))
  }

  private static func askForCode(
    _ prompt: String, atEnd: CommandFailure, interrupted: Message
  ) throws(CommandFailure) -> Secret {
    var entered: [UInt8]
    repeat { entered = try line(prompt, atEnd: atEnd, interrupted: interrupted) } while entered.isEmpty
    return try secret(&entered, .code)
  }

  /// Whether a person has typed a word instead of a secret.
  static func isWord(_ word: String, _ entered: Secret) -> Bool {
    let word = Array(word.utf8)
    return entered.withBytes { bytes in
      bytes.count == word.count && bytes.indices.allSatisfy { bytes[$0] == word[$0] }
    }
  }

  private static func line(
    _ prompt: String, atEnd: CommandFailure, interrupted: Message
  ) throws(CommandFailure) -> [UInt8] {
    while true {
      do throws(Terminal.Refusal) { return try Terminal.readHiddenLine(prompt: prompt) } catch {
        switch error {
        // The terminal is as it was; when the person comes back, the question is asked again.
        case .interrupted(.stop): try? Signal.stop.send(to: ProcessIdentity.pid)
        case .interrupted(let signal):
          var failure = CommandFailure(.failure, interrupted)
          failure.signal = signal
          throw failure
        case .noAnswer: throw atEnd
        case .noTerminal: throw CommandFailure(.usage, "there is no terminal to ask at")
        case .failed(let error): throw CommandFailure(.failure, "the terminal cannot be used: \(error)")
        }
      }
    }
  }

  /// Reads one line of standard input; `isNew` where it is not the secret that is there already.
  static func standardInput(_ kind: Kind, isNew: Bool = false) throws(CommandFailure) -> Secret {
    let stream = FileDescriptor(owning: 0)
    let line = firstLine(of: stream)
    _ = stream.release()
    guard var line else {
      let secret = isNew ? "new \(kind.rawValue)" : kind.rawValue
      throw CommandFailure(.usage, "standard input has no line to read the \(secret) from; nothing was sent")
    }
    guard line.count < longest else {
      wipe(&line)
      throw CommandFailure(.usage, "the \(kind.rawValue) has \(longest / 1024) KiB or more; nothing was sent")
    }
    return try secret(&line, kind)
  }

  /// Runs the command that an option names with the shell and takes the first line of its output; `--timeout` ends it.
  static func output(of option: String, _ context: Context, _ kind: Kind) throws(CommandFailure) -> Secret {
    let deadline = try context.arguments.seconds("--timeout").map { BootClock.now + $0 }
    let program = SecretProgram(
      command: context.arguments[option] ?? "", environment: context.environment.all, deadline: deadline)
    var line: [UInt8] = []
    defer { wipe(&line) }
    let ending: SecretProgram.Ending
    do throws(Errno) { ending = try program.run(into: &line) } catch {
      throw CommandFailure(.failure, "the command of \(option) cannot be run: \(error)")
    }
    switch ending {
    case .ended(0): return try secret(&line, kind)
    case .ended(let code): throw CommandFailure(.failure, "the command of \(option) ended with code \(code)")
    case .printedNothing: throw CommandFailure(.failure, "the command of \(option) printed nothing")
    case .isTooLong:
      throw CommandFailure(
        .failure, "the command of \(option) printed more than \(SecretProgram.longest / 1024) KiB")
    case .isLate:
      var failure = context.failure(.timedOut)
      failure.message = Message(
        "the command of \(option) did not end \(context.withinTimeout) and was terminated; nothing was sent")
      throw failure
    }
  }

  private static func secret(_ line: inout [UInt8], _ kind: Kind) throws(CommandFailure) -> Secret {
    guard !line.isEmpty else { throw CommandFailure(.usage, "the \(kind.rawValue) is empty; nothing was sent") }
    guard (try? UTF8Span(validating: line.span)) != nil else {
      wipe(&line)
      throw CommandFailure(.usage, "the \(kind.rawValue) is not UTF-8 text; nothing was sent")
    }
    do { return try Secret(wiping: &line) } catch {
      throw CommandFailure(.failure, "the memory for secrets is used up")
    }
  }

  /// Reads a secret that is all of standard input, one line: a part of one that has more would be another secret.
  ///
  /// At a terminal it is the line that is typed.
  ///
  /// - Throws: a usage failure for several lines; nothing of them is used.
  static func wholeInput(_ kind: Kind) throws(CommandFailure) -> Secret {
    let secret = try standardInput(kind)
    guard !Terminal.isTerminal(0) else { return secret }
    let stream = FileDescriptor(owning: 0)
    var byte: [UInt8] = [0]
    defer { wipe(&byte) }
    let rest = stream.read(into: &byte)
    _ = stream.release()
    if case .bytes = rest {
      throw CommandFailure(
        .usage, "standard input has more than one line; a \(kind.rawValue) is one line, and a part of it was not used")
    }
    return secret
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
