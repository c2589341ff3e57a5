import ClientSocket
import LinuxSystem

/// Joins standard input and output to the broker's socket.
enum StandardRelay {
  /// Relays until one side ends.
  ///
  /// - Throws: a failure with code 8 when the broker ends while there is input left.
  static func run(_ context: Context, mayStart: Bool) throws(CommandFailure) {
    let connector = try context.connector(mayStart: mayStart)
    let connection: BrokerConnector.Connection
    do throws(ConnectError) { connection = try connector.connect() } catch { throw CommandFailure(error) }
    context.warn(of: connection.owner)
    let outcome: Relay.Outcome
    var reason: String?
    do throws(Errno) {
      try ProcessHardening.ignoreWriteSignals()
      let input = try InheritedStream(FileDescriptor(owning: 0), .reading)
      let output = try InheritedStream(FileDescriptor(owning: 1), .writing)
      outcome = Relay(input: input, output: output, socket: connection.socket()).run { reason = $0 }
    } catch { throw CommandFailure(.failure, "the standard streams cannot be used: \(error)") }
    switch outcome {
    case .inputEnded, .shutDown: return
    case .brokerClosed: throw CommandFailure(.brokerUnreachable, sentence(reason, context))
    case .outputClosed: throw .quiet(.failure)
    case .failed(let error): throw CommandFailure(.failure, "the connection failed: \(error)")
    }
  }

  /// Why there is no broker to relay to any more: a broker closes one connection and serves the others.
  private static func sentence(_ reason: String?, _ context: Context) -> String {
    if let reason { return "the broker has closed this connection: \(reason)" }
    guard isListening(context) else { return "the broker has ended; start again" }
    return "the broker has closed this connection and runs on; start again"
  }

  private static func isListening(_ context: Context) -> Bool {
    guard let connector = try? context.connector(mayStart: false) else { return false }
    do throws(ConnectError) { _ = try connector.connect() } catch { return false }
    return true
  }
}
