import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import LinuxSystem

/// Why a command ends without success: what is printed, and the exit code.
struct CommandFailure: Error, Equatable {
  /// What scripts see.
  var exitCode: ExitCode
  /// Sentences for people; empty where all has been said already.
  var message: String
  /// The broker's own error, for `--json`.
  var error: BrokerError?
  /// What ends the program in place of the exit code, once everything is said.
  var signal: Signal?
  /// The stable name of a failure that is not the broker's own, for `--json`; nil where nothing is printed there.
  private(set) var kind: String?
  /// Whether the command's help says how it is done right.
  private var isAboutCommandLine = false

  /// A failure that the command itself found.
  init(_ exitCode: ExitCode, _ message: String) {
    self.exitCode = exitCode
    self.message = message
    switch exitCode {
    case .usage: kind = "usage"
    case .brokerUnreachable: kind = "brokerUnreachable"
    default: break
    }
  }

  /// A command line that cannot be followed.
  static func usage(_ message: String) -> CommandFailure {
    var failure = CommandFailure(.usage, message)
    failure.isAboutCommandLine = true
    return failure
  }

  /// The same, with where the help is if the command line is wrong and no other command is named.
  ///
  /// - Parameter command: the name of the command whose help it is; nil: the overview.
  /// - Returns: the failure as it is printed.
  func namingHelp(of command: String?) -> CommandFailure {
    guard isAboutCommandLine, !message.contains(": authbroker ") else { return self }
    var failure = self
    let end = message.last.map { ".!?;:".contains($0) } ?? true ? "" : "."
    failure.message += end + " See: authbroker help" + (command.map { " " + $0 } ?? "")
    return failure
  }

  /// An end with another code than 0 of which everything has been said on standard output.
  static func quiet(_ exitCode: ExitCode) -> CommandFailure { CommandFailure(exitCode, "") }

  /// What the client library or the broker says.
  init(_ error: ClientError) {
    switch error {
    case .broker(let error):
      self.init(ExitCode(error), Advice.sentences(for: error))
      self.error = error
    case .noBroker, .connectionLost, .timedOut: self.init(.brokerUnreachable, error.description)
    case .cancelled, .unexpectedAnswer: self.init(.failure, error.description)
    }
  }

  /// A broker that could not be reached or started.
  init(_ error: ConnectError) {
    self.init(ExitCode(error), error.description)
    kind = "brokerUnreachable"
    // The daemon's words are the broker's own, also for a program that reads them as JSON.
    guard case .startRefused(let code, let reason) = error, let kind = ErrorKind(rawValue: code) else { return }
    self.error = BrokerError(kind, reason)
  }
}
