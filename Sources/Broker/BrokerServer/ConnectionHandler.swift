import LinuxSystem
import Transport

/// What the loop calls for one direction of a connection that has two descriptors.
final class ConnectionHandler: EventHandler {
  private let connection: Connection
  private let side: ConnectionSide

  /// A handler for one side of a connection.
  init(_ connection: Connection, _ side: ConnectionSide) {
    self.connection = connection
    self.side = side
  }

  func ready(_ events: ReadyEvents) { connection.announced.note(connection, events, side) }
}
