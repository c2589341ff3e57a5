import BrokerCore
package import BrokerProtocol
import ConfigurationFile
import JSON

/// Limited sockets that are opened at run time.
extension LimitedSocket {
  /// A day's work, or a month of a machine that is seldom started again; what is to stay longer belongs in the
  /// configuration.
  private static let lifetimeSetting = DurationSetting("lifetimeSeconds", 1...2_592_000, standard: 3600)

  /// Reads what a client wants to have opened, as an entry of the section `sockets` is read.
  ///
  /// - Parameters:
  ///   - id: the name of the socket.
  ///   - params: the entry.
  ///   - profiles: those that are configured.
  /// - Returns: the socket.
  /// - Throws: `invalidParams` for the first mistake.
  package static func opened(
    as id: String, _ params: OpenSocket.Params, profiles: [ProfileName]
  ) throws(BrokerError) -> LimitedSocket {
    var writer = JSONWriter()
    var entry = params
    // No entry has it: the sockets of the configuration end with the broker.
    entry.whileConnected = nil
    entry.encode(to: &writer)
    let read: LimitedSocket?
    do throws(ConfigurationError) {
      let bytes = writer.bytes
      read = try ConfigurationDocument.read(bytes, file: "params", environment: [:], keys: KnownKeys()) { entry in
        _ = entry.read(lifetimeSetting)
        return BrokerConfiguration.socket(id, &entry, profiles)
      }
    } catch {
      throw refusal(error)
    }
    guard var socket = read else { throw BrokerError(.invalidParams, pointer: "/profiles") }
    socket.ceiling.isOpened = true
    return socket
  }

  private static func refusal(_ error: ConfigurationError) -> BrokerError {
    guard let mistake = error.mistakes.first else { return BrokerError(.invalidParams) }
    // As in `methods[1]`, which is /methods/1 to a client (RFC 6901).
    let steps = mistake.path.split { $0 == "[" || $0 == "]" }
    let pointer = "/" + steps.joined(separator: "/")
    let advice = mistake.suggestion.map { "; \($0)" } ?? ""
    let sentence = "The parameter \(pointer) \(mistake.message)\(advice)"
    return BrokerError(.invalidParams, sentence.hasSuffix("?") ? sentence : sentence + ".", pointer: pointer)
  }
}
