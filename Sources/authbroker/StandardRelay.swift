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
    do throws(Errno) {
      try ProcessHardening.ignoreWriteSignals()
      let input = try InheritedStream(FileDescriptor(owning: 0), .reading)
      let output = try InheritedStream(FileDescriptor(owning: 1), .writing)
      outcome = Relay(input: input, output: output, socket: connection.socket()).run()
    } catch { throw CommandFailure(.failure, "the standard streams cannot be used: \(error).") }
    switch outcome {
    case .inputEnded, .shutDown: return
    case .brokerClosed: throw CommandFailure(.brokerUnreachable, "the broker has ended; start again.")
    case .outputClosed: throw .quiet(.failure)
    case .failed(let error): throw CommandFailure(.failure, "the connection failed: \(error).")
    }
  }
}
