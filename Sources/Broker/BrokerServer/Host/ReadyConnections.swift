import LinuxSystem
import Transport

/// The connections for which the loop has announced something in this turn, and those that it has accepted.
///
/// The server moves them together when all are known, so that it is entered once for all of them. Confined to the
/// server's executor: handlers and what the loop calls behind them run there.
final class ReadyConnections: TurnObserver {
  /// One connection and its announced readiness.
  struct Ready {
    /// The connection.
    let connection: Connection
    fileprivate let events: ReadyEvents
    fileprivate let side: ConnectionSide

    private var hasEnded: Bool { events.has(.hangUp) || events.has(.error) }
    /// Whether bytes, or the end, can be read.
    var isReadable: Bool { side != .output && (events.has(.readable) || hasEnded) }
    /// Whether bytes can be written.
    var isWritable: Bool { events.has(.writable) }
    /// Whether no reader of an answer is left.
    var isGone: Bool { side != .input && hasEnded }
    /// Whether nothing is left to do but to close.
    var mustClose: Bool { side == .output && hasEnded }
    /// Whether there is something to read and that is all.
    var isJustReadable: Bool { isReadable && !isWritable && !isGone }
  }

  /// A connection that was just accepted.
  struct Accepted {
    /// Its bytes.
    let stream: SocketStream
    /// The entrance that it came by.
    let entrance: Entrance
    /// The process that made it.
    let credentials: PeerCredentials
  }

  /// The server that moves them; nil until the loop calls this object, and weak, since the loop keeps the server.
  weak var server: BrokerServer?
  private let way = LoopEntrance { (server: isolated BrokerServer) in server.moveAnnounced() }
  private var list: [Ready] = []
  /// An empty list that takes turns with it, so that nothing is allocated.
  private var spare: [Ready] = []
  private var accepted: [Accepted] = []

  func handlersWereCalled() {
    guard !list.isEmpty || !accepted.isEmpty else { return }
    guard let server else {
      list.removeAll()
      accepted.removeAll()
      return
    }
    way.enter(server)
  }

  /// Notes a connection that was accepted.
  func note(_ connection: Accepted) { accepted.append(connection) }

  /// Takes out an accepted connection, in their order; nil where there is none.
  ///
  /// There are few in a turn.
  func takeAccepted() -> Accepted? { accepted.isEmpty ? nil : accepted.removeFirst() }

  /// Closes the accepted connections of an entrance that is closed within this turn.
  ///
  /// - Returns: how many there are.
  func dropAccepted(at entrance: Entrance) -> Int {
    let count = accepted.count
    accepted.removeAll { $0.entrance == entrance }
    return count - accepted.count
  }

  /// Notes the readiness of one side of a connection.
  func note(_ connection: Connection, _ events: ReadyEvents, _ side: ConnectionSide) {
    list.append(Ready(connection: connection, events: events, side: side))
  }

  /// Takes those out for which something was announced.
  func takeReady() -> [Ready] {
    var taken: [Ready] = []
    swap(&taken, &spare)
    swap(&taken, &list)
    return taken
  }

  /// Returns the list, when all are moved, to be used again.
  func giveBack(_ taken: inout [Ready]) {
    taken.removeAll(keepingCapacity: true)
    swap(&taken, &spare)
  }
}

/// The directions in which a connection's descriptor carries bytes.
enum ConnectionSide {
  /// A socket.
  case both
  /// Standard input: its end is no reason to stop writing.
  case input
  /// Standard output: its end leaves no reader.
  case output
}
