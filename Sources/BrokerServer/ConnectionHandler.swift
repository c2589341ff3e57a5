import BrokerCore
import LinuxSystem
import Transport

/// What the loop calls for one direction of a connection, or for both.
final class ConnectionHandler: EventHandler, Sendable {
  /// Which way the descriptor's bytes flow.
  enum Side {
    /// A socket.
    case both
    /// Standard input: its end is no reason to stop writing.
    case input
    /// Standard output: its end leaves no reader.
    case output
  }

  private let server: BrokerServer
  private let id: ClientID
  private let side: Side

  /// A handler for a connection of the server.
  init(_ server: BrokerServer, _ id: ClientID, _ side: Side) {
    self.server = server
    self.id = id
    self.side = side
  }

  func ready(_ events: ReadyEvents) {
    let hasEnded = events.contains(.hangUp) || events.contains(.error)
    let isReadable = side != .output && (events.contains(.readable) || hasEnded)
    let isGone = hasEnded && side != .input
    let mustClose = isGone && side == .output
    server.assumeIsolated { server in
      if mustClose {
        server.closeIfOpen(id)
      } else {
        server.ready(id, isReadable: isReadable, isWritable: events.contains(.writable), isGone: isGone)
      }
    }
  }
}
