import LinuxSystem

/// A port of 127.0.0.1, and the Unix socket that it leads to.
struct PortLane: Equatable, Sendable {
  /// The port.
  let port: UInt16
  /// The path of the socket.
  let path: String

  /// A lane.
  init(port: UInt16, path: String) { (self.port, self.path) = (port, path) }

  /// Reads its form in a command line; nil for other words.
  init?(word: String) {
    let parts = word.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, let port = UInt16(String(parts[0])), PathName.isAbsolute(parts[1]) else { return nil }
    self.init(port: port, path: String(parts[1]))
  }

  /// The form in a command line.
  var word: String { "\(port)=\(path)" }
}

/// Carries the bytes of connections between ports and Unix sockets, unread and unchanged.
final class PortBridge {
  /// As many as a door takes.
  private static let mostConnections = 64

  private final class Entrance {
    let socket: LoopbackSocket.Listening
    let path: String

    init(_ lane: PortLane) throws(Errno) {
      socket = try LoopbackSocket.listen(on: .ipv4, port: lane.port)
      path = lane.path
    }
  }

  private let entrances: [Entrance]
  private var connections: [BridgedConnection] = []

  /// Listens on the ports.
  ///
  /// - Throws: what bind(2) says.
  init(_ lanes: [PortLane]) throws(Errno) {
    var entrances: [Entrance] = []
    for lane in lanes { entrances.append(try Entrance(lane)) }
    self.entrances = entrances
  }

  /// Carries bytes for as long as this process lives.
  func run() {
    while true {
      var poll = PollSet(count: entrances.count + 2 * connections.count)
      if connections.count < Self.mostConnections {
        for (index, entrance) in entrances.enumerated() {
          poll.watch(index, entrance.socket.descriptor.number, readable: true)
        }
      }
      for (index, connection) in connections.enumerated() { connection.watch(&poll, entrances.count + 2 * index) }
      guard (try? poll.wait()) != nil else { return }
      for connection in connections { connection.move() }
      connections.removeAll { $0.isOver }
      for (index, entrance) in entrances.enumerated() where poll.isReady(index) { admit(at: entrance) }
    }
  }

  private func admit(at entrance: Entrance) {
    guard let client = try? UnixSocket.accept(from: entrance.socket.descriptor),
      let door = try? UnixSocket.connect(to: entrance.path), (try? door.setNonBlocking()) != nil
    else { return }
    connections.append(BridgedConnection(client, door))
  }
}

/// One connection: bytes both ways, each as fast as its reader.
private final class BridgedConnection {
  /// Bytes in one direction.
  private struct Flow {
    private static let size = 1 << 16
    private var bytes = [UInt8](repeating: 0, count: size)
    private var pending = 0..<0
    private(set) var hasEnded = false

    var mayRead: Bool { pending.isEmpty && !hasEnded }
    var mayWrite: Bool { !pending.isEmpty }
    var isOver: Bool { pending.isEmpty && hasEnded }

    /// Moves as much as goes at once; false where one of the ends is gone.
    mutating func move(from source: borrowing FileDescriptor, to sink: borrowing FileDescriptor) -> Bool {
      if mayRead {
        switch source.read(into: &bytes) {
        case .bytes(let count): pending = 0..<count
        case .wouldBlock: return true
        case .endOfStream:
          hasEnded = true
          try? sink.finishSending()
        case .failed: return false
        }
      }
      guard mayWrite else { return true }
      switch sink.send(bytes, pending) {
      case .bytes(let count): pending = pending.lowerBound + count..<pending.upperBound
      case .wouldBlock: break
      default: return false
      }
      return true
    }
  }

  private let client: FileDescriptor
  private let door: FileDescriptor
  private var (up, down) = (Flow(), Flow())
  private var isBroken = false

  init(_ client: consuming FileDescriptor, _ door: consuming FileDescriptor) {
    self.client = client
    self.door = door
  }

  /// Whether nothing more is to be carried.
  var isOver: Bool { isBroken || (up.isOver && down.isOver) }

  func watch(_ poll: inout PollSet, _ index: Int) {
    poll.watch(index, client.number, readable: up.mayRead, writable: down.mayWrite)
    poll.watch(index + 1, door.number, readable: down.mayRead, writable: up.mayWrite)
  }

  func move() {
    let isWhole = up.move(from: client, to: door) && down.move(from: door, to: client)
    if !isWhole { isBroken = true }
  }
}
