import BrokerCore
import BrokerProtocol
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import Doors
@testable import HTTP

/// Clients that stop in the middle: none of them keeps a thread of the door, or its connection to the server.
@Suite(.standardTimeLimit) struct StoppedClientTests {
  private static let piece = [UInt8](repeating: 0x30, count: 1 << 16)
  private static let headEnd = Array("\r\n\r\n".utf8)

  /// A door to a server that the test plays.
  private final class Stage {
    let client: HTTPClient
    let door: Door
    private let port: Int
    private let listener: LoopbackSocket.Listening

    init(writeTime: Duration = Patience.ceiling) throws {
      var timeouts = HTTPTimeouts()
      timeouts.connect = Patience.ceiling
      client = try HTTPClient(version: "1", proxy: .none, timeouts: timeouts)
      listener = try LoopbackSocket.listen(on: .ipv4, port: 0)
      let front = try LoopbackSocket.listen(on: .ipv4, port: 0)
      port = front.port
      let token = try Secret(utf8: "token-of-a-test")
      var settings = DoorSettings(
        profile: .default, origin: try TargetAddress("http://127.0.0.1:\(listener.port)").origin,
        placeholder: try Secret(utf8: "placeholder"), slot: "authorization", passesUnauthorized: false, port: port)
      settings.writeTime = writeTime
      door = try Door(
        settings, on: .port(front),
        with: DoorMeans(AuthenticatedTransport(client), memory: nil) { _ in .success(LentToken(BoundToken(token))) })
    }

    /// A client that has sent the head of a request.
    func connect(_ line: String, _ fields: String = "") throws -> FileDescriptor {
      let connection = try LoopbackSocket.connect(to: .ipv4, port: UInt16(port))
      let head =
        "\(line) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer placeholder\r\n\(fields)\r\n"
      try connection.sendAll(head.utf8.span)
      return connection
    }

    /// The connection of the door to the server, once the head of its request has come.
    func accept() throws -> FileDescriptor {
      var poll = PollSet(count: 1)
      poll.watch(0, listener.descriptor.number, readable: true)
      #expect(try poll.wait(atMost: Patience.ceiling) == 1)
      guard let connection = try UnixSocket.accept(from: listener.descriptor) else { throw Errno.again }
      try connection.setNonBlocking()
      var head: [UInt8] = []
      var byte: [UInt8] = [0]
      #expect(
        Patience.wait {
          while !head.ends(with: headEnd), case .bytes = connection.read(into: &byte) { head += byte }
          return head.ends(with: headEnd)
        })
      #expect(String(decoding: head, as: UTF8.self).contains("Authorization: Bearer token-of-a-test\r\n"))
      return connection
    }

    /// Whether the other end of a connection has left it.
    static func isLeft(_ connection: borrowing FileDescriptor) -> Bool {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        switch connection.read(into: &buffer) {
        case .bytes: continue
        case .wouldBlock: return false
        default: return true
        }
      }
    }

    /// Closes the door, and waits for its threads.
    func end() async {
      door.close()
      await client.close()
      #expect(door.counts.connections == 0 && door.lanes.idleCount == 0)
    }
  }

  @Test func `a client that takes nothing of its answer is left, and so is the server`() async throws {
    let stage = try Stage(writeTime: .milliseconds(50))
    let size = 1 << 30
    let client = try stage.connect("GET /large")
    let server = try stage.accept()
    try server.sendAll("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8.span)
    #expect(
      Patience.wait {
        while case .bytes = server.send(Self.piece, 0..<Self.piece.count) {}
        return stage.door.counts.connections == 0
      })
    #expect(Patience.wait { Stage.isLeft(server) })
    // What was written before is there, and then the answer breaks off.
    var (count, buffer) = (0, [UInt8](repeating: 0, count: 1 << 16))
    while case .bytes(let more) = client.read(into: &buffer) { count += more }
    #expect(count > 0 && count < size)
    await stage.end()
  }

  @Test func `only a pause that lasts too long ends an answer, and not many short ones`() {
    var stall = WriteStall()
    func isOver(_ hasTaken: Bool, at second: Int) -> Bool {
      stall.isOver(hasTaken: hasTaken, at: .seconds(second), limit: .seconds(60))
    }
    for second in stride(from: 0, to: 600, by: 50) {
      #expect(!isOver(false, at: second) && !isOver(false, at: second + 49) && !isOver(true, at: second + 49))
    }
    #expect(!isOver(false, at: 700) && !isOver(false, at: 759) && isOver(false, at: 760))
  }

  @Test func `a client that takes its answer when all buffers on the way are full gets it whole`() async throws {
    let stage = try Stage()
    let size = 64 << 20
    let client = try stage.connect("GET /large")
    let server = try stage.accept()
    try server.sendAll("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8.span)
    var sent = 0
    func send() {
      while sent < size, case .bytes(let more) = server.send(Self.piece, 0..<min(Self.piece.count, size - sent)) {
        sent += more
      }
    }
    // The client pauses until all buffers on the way have something.
    #expect(
      Patience.wait {
        send()
        return sent > 1 << 20
      })
    try client.setNonBlocking()
    var (head, body): ([UInt8], Int) = ([], 0)
    var buffer: [UInt8] = [0]
    #expect(
      Patience.wait {
        send()
        while body < size, case .bytes(let count) = client.read(into: &buffer) {
          if buffer.count > 1 { body += count } else { head += buffer }
          if buffer.count == 1, head.ends(with: Self.headEnd) { buffer = Self.piece }
        }
        return body == size
      })
    #expect(stage.door.counts == Door.Counts(forwarded: 1, refused: 0, connections: 1))
    await stage.end()
  }

  @Test(arguments: [true, false])
  func `a client that goes in the middle of an upload is noticed`(_ isRead: Bool) async throws {
    let stage = try Stage()
    let server = try Self.upload(to: stage, isRead: isRead)
    #expect(Patience.wait { stage.door.counts.connections == 0 })
    // The lane is free for another connection, and the request is over.
    #expect(stage.door.lanes.idleCount == 1)
    #expect(Patience.wait { Stage.isLeft(server) })
    await stage.end()
  }

  /// A client sends a part of a body, and goes.
  ///
  /// - Returns: the connection of the door to the server.
  private static func upload(to stage: Stage, isRead: Bool) throws -> FileDescriptor {
    let client = try stage.connect("POST /upload", "Content-Length: \(1 << 30)\r\n")
    let server = try stage.accept()
    if isRead {
      try client.sendAll(piece.span)
      var (count, buffer) = (0, piece)
      #expect(
        Patience.wait {
          while case .bytes(let more) = server.read(into: &buffer) { count += more }
          return count == piece.count
        })
    } else {
      // The server takes nothing: the door holds what it may, and the rest waits in buffers.
      try client.setNonBlocking()
      while case .bytes = client.send(piece, 0..<piece.count) {}
    }
    #expect(stage.door.counts == Door.Counts(forwarded: 1, refused: 0, connections: 1))
    return server
  }
}

extension [UInt8] {
  /// Whether it ends with bytes.
  fileprivate func ends(with end: [UInt8]) -> Bool { count >= end.count && suffix(end.count).elementsEqual(end) }
}
