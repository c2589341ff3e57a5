import HTTP
import Logging

extension Logger {
  /// Writes the one line of a call to a provider.
  ///
  /// It says what the call was for, where it went without query and fragment, what came of it and how long that took;
  /// no field, no body and no word of the provider.
  func write(_ call: HTTPCall) {
    var fields: [LogField] = [
      .word("purpose", call.purpose), .word("method", call.method.rawValue), .word("host", call.host),
      .word("path", call.path),
    ]
    switch call.result {
    case .success(let status): fields.append(.number("status", status))
    case .failure(let failure): fields.append(.word("failure", failure.name))
    }
    fields.append(.number("milliseconds", Int(clamping: call.duration.wholeMilliseconds)))
    write(call.isTrouble ? .warning : .debug, "provider call", fields)
  }
}

extension Duration {
  /// Milliseconds, rounded down.
  fileprivate var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
