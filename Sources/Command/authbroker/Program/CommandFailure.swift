import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import JSON
import LinuxSystem

/// The reason why a command ends without success: the message, and the exit code.
struct CommandFailure: Error, Equatable {
  /// The exit code.
  var exitCode: ExitCode
  /// The message; empty where all has been said already.
  var message: Message
  /// The broker's own error, for `--json`.
  var error: BrokerError?
  /// The signal that ends the program in place of the exit code, once everything is said.
  var signal: Signal?
  /// The stable name of a failure that is not the broker's own, for `--json`.
  private(set) var kind: String
  /// Whether standard output has the result already, or is another program's: no error object belongs there.
  private(set) var hasResult = false
  /// Whether standard error has the message already.
  private(set) var isTold = false
  /// Whether there is a broker that answers nothing: to look for another one is of no use.
  private(set) var isUnresponsive = false
  /// Whether the command's help says how it is done right.
  private var isAboutCommandLine = false

  /// A failure that the command itself found.
  init(_ exitCode: ExitCode, _ sentence: String, next: NextCommand? = nil) {
    self.init(exitCode, Message(sentence, next: next))
  }

  /// A failure that the command itself found.
  init(_ exitCode: ExitCode, _ message: Message) {
    self.exitCode = exitCode
    self.message = message
    kind = exitCode.kind
  }

  /// A command line that cannot be followed.
  static func usage(_ sentence: String, next: NextCommand? = nil) -> CommandFailure {
    var failure = CommandFailure(.usage, sentence, next: next)
    failure.isAboutCommandLine = true
    return failure
  }

  /// A word of the command line that is not known.
  ///
  /// - Parameters:
  ///   - kind: what the word would be, such as `option`.
  ///   - word: the word.
  ///   - likely: the word that was probably meant; nil where none is near.
  ///   - choices: what to use in that case; nil: the help says it.
  /// - Returns: the failure.
  static func unknown(
    _ kind: String, _ word: String, likely: String?, choices: String? = nil
  ) -> CommandFailure {
    let sentence = "unknown \(kind) \(word.shellQuoted)"
    if let likely { return CommandFailure(.usage, sentence + "; did you mean \(likely)?") }
    return .usage(sentence + (choices.map { "; use \($0)" } ?? ""))
  }

  /// The same failure with another message.
  func saying(_ message: Message) -> CommandFailure {
    var failure = self
    failure.message = message
    return failure
  }

  /// The same, behind a result on standard output that says as much.
  func behindResult() -> CommandFailure {
    var failure = self
    failure.hasResult = true
    return failure
  }

  /// The same, of which people have been told.
  func told() -> CommandFailure {
    var failure = self
    failure.isTold = true
    return failure
  }

  /// The same, with where the help is if the command line is wrong and no other command is named.
  ///
  /// - Parameter command: the name of the command whose help it is; nil: the overview.
  /// - Returns: the failure as it is printed.
  func namingHelp(of command: String?) -> CommandFailure {
    guard isAboutCommandLine, message.next == nil else { return self }
    var failure = self
    let name = command.map { $0.split(separator: " ").map(String.init) } ?? []
    failure.message.next = NextCommand("see", words: ["help"] + name)
    return failure
  }

  /// The same with the option of a command line in the place of the parameter that carried its value.
  func naming(_ arguments: Arguments) -> CommandFailure {
    guard let pointer = error?.pointer, let member = pointer.split(separator: "/").first,
      let option = arguments.option(for: String(member)),
      let place = message.sentence.firstOccurrence(of: "the parameter " + pointer)
    else { return self }
    var failure = self
    failure.message.sentence.replaceSubrange(place, with: option)
    return failure
  }

  /// A pending login that is not there, as the command itself has found.
  static func noPendingLogin(_ message: Message) -> CommandFailure {
    CommandFailure(.broker(BrokerError(.flowNotFound))).saying(message)
  }

  /// An end with another code than 0 of which everything has been said on standard output.
  static func quiet(_ exitCode: ExitCode) -> CommandFailure { CommandFailure(exitCode, "").behindResult().told() }

  /// The failure of a call that has taken longer than the command line allows: it has the code of all that takes too long.
  static func late(_ sentence: String) -> CommandFailure {
    CommandFailure(.broker(BrokerError(.deadlineExceeded))).saying(Message(sentence))
  }

  /// The failure for an error of the client library or the broker.
  init(_ error: ClientError) {
    switch error {
    case .broker(let error):
      self.init(ExitCode(error), Advice.message(for: error))
      self.error = error
    case .unresponsive(let pid):
      self.init(.brokerUnreachable, Self.unresponsive(pid))
      isUnresponsive = true
    case .noBroker, .connectionLost, .timedOut: self.init(.brokerUnreachable, BrokerSentence.plain(error.description))
    case .cancelled, .unexpectedAnswer: self.init(.failure, BrokerSentence.plain(error.description))
    }
  }

  private static func unresponsive(_ pid: Int32?) -> Message {
    guard let pid, ProcessIdentity.isStopped(pid) else {
      let name = pid.map { " (pid \($0))" } ?? ""
      return Message("the broker\(name) does not answer", next: NextCommand("end it with", "stop"))
    }
    return Message(
      "the broker (pid \(pid)) was stopped by a signal and does not answer; let it go on with kill -CONT \(pid)",
      next: NextCommand("or end it with", "stop"))
  }

  /// A broker that could not be reached or started.
  init(_ error: ConnectError) {
    self.init(ExitCode(error), Self.message(error))
    kind = "brokerUnreachable"
    // The daemon's words are the broker's own, also for a program that reads them as JSON.
    guard case .startRefused(let code, let reason) = error, let kind = ErrorKind(rawValue: code) else { return }
    self.error = BrokerError(kind, reason)
  }

  private static func message(_ error: ConnectError) -> Message {
    let next: NextCommand? =
      switch error {
      case .notRunning(_, startable: true):
        NextCommand("any command without --no-start starts one, such as", "status")
      case .otherConfiguration: NextCommand("restart it with", "stop")
      case .ownerDoesNotAnswer(pid: _?, _, _):
        NextCommand("set AUTHBROKER_SOCKET to its socket, or run", "stop")
      default: nil
      }
    return Message(BrokerSentence.plain(next == nil ? error.description : error.reason), next: next)
  }
}
