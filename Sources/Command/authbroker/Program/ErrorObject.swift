import BrokerProtocol
import JSON

/// A failure as a line of JSON on standard output, so that a program has one place to read.
enum ErrorObject {
  /// Prints `{"error":{…}}`: the broker's error as it came, or what the command itself has found, whose code is the exit
  /// code, which no error of the broker has.
  ///
  /// - Parameters:
  ///   - failure: the failure.
  ///   - message: what people are told of it.
  static func print(_ failure: CommandFailure, _ message: String) {
    var writer = JSONWriter()
    writer.object { writer in
      if let error = failure.error { return writer.member("error", error) }
      writer.key("error")
      writer.object { writer in
        writer.member("code", Int(failure.exitCode.rawValue))
        writer.member("message", message)
        writer.key("data")
        writer.object { writer in
          writer.member("kind", failure.kind)
          writer.member("nextAction", action(failure.exitCode).rawValue)
          writer.member("retryable", false)
        }
      }
    }
    Output.json(writer.bytes)
  }

  private static func action(_ code: ExitCode) -> NextAction {
    switch code {
    case .usage: .fixRequest
    case .loginRequired: .login
    default: .none
    }
  }
}
