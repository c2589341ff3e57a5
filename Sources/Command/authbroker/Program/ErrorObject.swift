import BrokerProtocol
import JSON

/// The broker's error as a line of JSON on standard output, so that a program has one place to read.
enum ErrorObject {
  /// Prints `{"error":{…}}`.
  static func print(_ error: BrokerError) {
    var writer = JSONWriter()
    writer.object { writer in writer.member("error", error) }
    Output.json(writer.bytes)
  }

  /// Prints a failure that the command itself has found; its code is the exit code, which no error of the broker has.
  ///
  /// - Parameters:
  ///   - failure: the failure.
  ///   - kind: its stable name.
  ///   - message: what people are told of it.
  static func print(_ failure: CommandFailure, _ kind: String, _ message: String) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("error")
      writer.object { writer in
        writer.member("code", Int(failure.exitCode.rawValue))
        writer.member("message", message)
        writer.key("data")
        writer.object { writer in
          writer.member("kind", kind)
          writer.member("nextAction", (kind == "usage" ? NextAction.fixRequest : .none).rawValue)
          writer.member("retryable", false)
        }
      }
    }
    Output.json(writer.bytes)
  }
}
