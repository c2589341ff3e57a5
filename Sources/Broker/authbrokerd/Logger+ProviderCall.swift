import BrokerCore
import BrokerProtocol
import HTTP
import LocalProvider
import Logging

/// The one line of a call to a provider.
///
/// It says for which profile and for what the call was, where it went, what came of it and how long that took; no field,
/// no body and no word of the provider.
extension Logger {
  /// Writes the line of a request, whose address is shown without query and fragment.
  func write(_ call: HTTPCall) {
    // Requests of doors follow each other faster than lines that are not written are worth making.
    guard call.isTrouble || writes(.debug) else { return }
    var fields: [LogField] = [
      .word("purpose", call.purpose), .word("method", call.method.rawValue), .word("host", call.host),
      .word("path", call.path),
    ]
    switch call.result {
    case .success(let status): fields.append(.number("status", status))
    case .failure(let failure): fields.append(.word("failure", failure.name))
    }
    writeCall(call.isTrouble, fields, call.duration)
  }

  /// Writes the line of a call to the embedded provider, which is at no host.
  func write(_ call: LocalCall) {
    let failure = call.failure.map { [LogField.word("failure", $0.kind.rawValue)] } ?? []
    writeCall(call.isTrouble, [.word("purpose", call.purpose), .word("provider", "local")] + failure, call.duration)
  }

  private func writeCall(_ isTrouble: Bool, _ fields: [LogField], _ duration: Duration) {
    let profile = ProviderCall.profile.map { [LogField.word("profile", $0.description)] } ?? []
    let time = LogField.number("milliseconds", Int(clamping: duration.wholeMilliseconds))
    write(isTrouble ? .warning : .debug, "provider call", profile + fields + [time])
  }
}

extension Duration {
  /// Milliseconds, rounded down.
  fileprivate var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
