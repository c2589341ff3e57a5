import BrokerProtocol
import JSONRPC

/// The broker's error as a line of JSON on standard output, so that a program has one place to read.
enum ErrorObject {
  /// Prints `{"error":{…}}`.
  static func print(_ error: BrokerError) {
    var writer = JSONWriter()
    writer.object { writer in writer.member("error", error) }
    Output.line(writer.bytes)
  }
}
