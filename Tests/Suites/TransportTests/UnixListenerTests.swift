import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import Transport

@Suite(.standardTimeLimit, .serialized) struct UnixListenerTests {
  /// Holds what a listener handed out.
  private final class Guests {
    final class Guest {
      let descriptor: FileDescriptor
      let peer: PeerCredentials
      init(_ descriptor: consuming FileDescriptor, _ peer: PeerCredentials) {
        self.descriptor = descriptor
        self.peer = peer
      }
    }
    var all: [Guest] = []
  }

  let scratch = Scratch()
  var path: String { scratch.path + "/run/s" }

  private func listener(
    _ loop: EventLoop, _ guests: Guests, within share: ConnectionShare = ConnectionShare(100), user: UInt32 = geteuid(),
    at path: String? = nil
  ) throws -> UnixListener {
    let lock = try FileLock(scratch.path + "/lock")
    let socket = try UnixSocket.listen(at: path ?? self.path, holding: lock)
    let listener = UnixListener(loop: loop, socket: socket, users: UserSet(user))
    try listener.start(within: share) { connection, peer in guests.all.append(.init(connection, peer)) }
    return listener
  }

  @Test func `a connection is handed out with its peer, non-blocking`() throws {
    let loop = try EventLoop()
    let guests = Guests()
    let listener = try listener(loop, guests)
    let client = try UnixSocket.connect(to: path)
    try loop.runOnce()
    #expect(guests.all.map(\.peer) == [PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid())])
    var buffer: [UInt8] = [0]
    #expect(guests.all[0].descriptor.read(into: &buffer) == .wouldBlock)
    #expect(client.send([3], 0..<1) == .bytes(1))
    #expect(guests.all[0].descriptor.read(into: &buffer) == .bytes(1))
    listener.stop()
    listener.removePath()
    #expect(throws: Errno.noEntry) { try UnixSocket.connect(to: path).close() }
  }

  @Test func `a peer of another user gets nothing but the end`() throws {
    let loop = try EventLoop()
    let guests = Guests()
    let listener = try listener(loop, guests, user: geteuid() + 1)
    let client = try UnixSocket.connect(to: path)
    try client.setNonBlocking()
    try loop.runOnce()
    var buffer: [UInt8] = [0]
    #expect(client.read(into: &buffer) == .endOfStream)
    #expect(guests.all.isEmpty)
    #expect(listener.refusals.otherUser == 1)
    listener.stop()
  }

  @Test func `at the limit clients wait until a connection ends`() throws {
    let loop = try EventLoop()
    let guests = Guests()
    let listener = try listener(loop, guests, within: ConnectionShare(2))
    let clients = Guests()
    for _ in 0..<4 { clients.all.append(.init(try UnixSocket.connect(to: path), .init(pid: 0, uid: 0, gid: 0))) }
    for _ in 0..<3 { try loop.runOnce() }
    #expect(guests.all.count == 2)
    #expect(listener.refusals == .init(otherUser: 0, noDescriptor: 0, pauses: 1))
    guests.all.removeFirst()
    listener.connectionClosed()
    for _ in 0..<3 { try loop.runOnce() }
    #expect(guests.all.count == 2)
    #expect(listener.connections == 2)
    listener.stop()
  }

  @Test func `a listener whose share is used up keeps no other from accepting, and goes on within it alone`() throws {
    let loop = try EventLoop()
    let (owners, guests) = (Guests(), Guests())
    let whole = ConnectionShare(3)
    let main = try listener(loop, owners, within: whole)
    let other = try listener(loop, guests, within: ConnectionShare(1, of: whole), at: path + "2")
    let clients = Guests()
    func connect(_ path: String, _ count: Int) throws {
      for _ in 0..<count { clients.all.append(.init(try UnixSocket.connect(to: path), .init(pid: 0, uid: 0, gid: 0))) }
      for _ in 0..<6 { try loop.runOnce() }
    }
    try connect(path + "2", 3)
    #expect(guests.all.count == 1 && other.refusals.pauses == 1)
    try connect(path, 3)
    #expect(owners.all.count == 2 && whole.open == 3)
    // Room of the main one's is none of the other's, which has its own again when a connection of its own ends.
    main.connectionClosed()
    for _ in 0..<6 { try loop.runOnce() }
    #expect(owners.all.count == 3 && guests.all.count == 1)
    other.connectionClosed()
    for _ in 0..<6 { try loop.runOnce() }
    #expect(guests.all.count == 2 && whole.open == 3)
    whole.limit = 4
    try connect(path, 2)
    #expect(owners.all.count == 4 && whole.open == 4)
    // One that has stopped waits for nothing.
    for listener in [main, other] { listener.stop() }
    other.connectionClosed()
    #expect(whole.open == 3)
  }

  @Test func `when descriptors run out accepting pauses, and goes on by itself`() throws {
    let loop = try EventLoop()
    let guests = Guests()
    let listener = try listener(loop, guests)
    let first = try UnixSocket.connect(to: path)
    try loop.runOnce()
    var tries = 0
    listener.next = { listener throws(Errno) in
      tries += 1
      guard tries > 1 else { throw .tooManyDescriptors }
      defer { loop.stop() }
      return try UnixSocket.accept(from: listener)
    }
    let second = try UnixSocket.connect(to: path)
    for _ in 0..<5 { try loop.runOnce() }
    #expect(tries == 1)
    #expect(guests.all.count == 1)
    try loop.run()
    #expect(guests.all.count == 2)
    #expect(listener.refusals == .init(otherUser: 0, noDescriptor: 0, pauses: 1))
    #expect(first.send([1], 0..<1) == .bytes(1))
    #expect(second.send([1], 0..<1) == .bytes(1))
    listener.stop()
  }

  @Test func `when descriptors run out and nobody is served the client is turned away at once`() throws {
    let loop = try EventLoop()
    let guests = Guests()
    let listener = try listener(loop, guests)
    var tries = 0
    listener.next = { listener throws(Errno) in
      tries += 1
      guard tries > 1 else { throw .tooManyDescriptors }
      return try UnixSocket.accept(from: listener)
    }
    let client = try UnixSocket.connect(to: path)
    try client.setNonBlocking()
    try loop.runOnce()
    var buffer: [UInt8] = [0]
    #expect(client.read(into: &buffer) == .endOfStream)
    #expect(listener.refusals == .init(otherUser: 0, noDescriptor: 1, pauses: 1))
    listener.stop()
  }

  @Test func `one connection is accepted in a turn, and more where they have been waiting for long`() throws {
    let loop = try EventLoop()
    let guests = Guests()
    let listener = try listener(loop, guests)
    let clients = Guests()
    for _ in 0..<40 { clients.all.append(.init(try UnixSocket.connect(to: path), .init(pid: 0, uid: 0, gid: 0))) }
    for turn in 1...16 {
      try loop.runOnce()
      #expect(guests.all.count == turn)
    }
    for turn in 1...6 {
      try loop.runOnce()
      #expect(guests.all.count == 16 + 4 * turn)
    }
    listener.stop()
  }
}
