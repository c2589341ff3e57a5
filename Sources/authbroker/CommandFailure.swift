import AuthBrokerClient
import BrokerProtocol
import ClientSocket

/// Why a command ends without success: what is printed, and the exit code.
struct CommandFailure: Error, Equatable {
  /// What scripts see.
  var exitCode: ExitCode
  /// Sentences for people; empty where all has been said already.
  var message: String
  /// The broker's own error, for `--json`.
  var error: BrokerError?

  /// A failure that the command itself found.
  init(_ exitCode: ExitCode, _ message: String) {
    self.exitCode = exitCode
    self.message = message
  }

  /// A command line that cannot be followed.
  static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }

  /// An end with another code than 0 of which everything has been said on standard output.
  static func quiet(_ exitCode: ExitCode) -> CommandFailure { CommandFailure(exitCode, "") }

  /// What the client library or the broker says.
  init(_ error: ClientError) {
    switch error {
    case .broker(let error):
      self.init(ExitCode(error.kind), Advice.sentences(for: error))
      self.error = error
    case .noBroker, .connectionLost, .timedOut: self.init(.brokerUnreachable, error.description)
    case .cancelled, .unexpectedAnswer: self.init(.failure, error.description)
    }
  }

  /// A broker that could not be reached or started.
  init(_ error: ConnectError) {
    self.init(ExitCode(error), error.description)
    // The daemon's words are the broker's own, also for a program that reads them as JSON.
    guard case .startRefused(let code, let reason) = error, let kind = ErrorKind(rawValue: code) else { return }
    self.error = BrokerError(kind, reason)
  }
}
