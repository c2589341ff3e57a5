import HTTP
import LinuxSystem

/// The client's end of a connection: what has come and was not read yet, and writing that waits.
struct DoorClient: ~Copyable {
  private static let pieceSize = 1 << 16

  /// The connection, which does not block.
  let descriptor: FileDescriptor
  /// Becomes readable when the door is closed.
  private let closing: Int32
  private let isPort: Bool
  /// How long the client may take not one byte of what is written.
  let writeTime: Duration
  /// The bytes that have come, and were not read yet.
  var input: [UInt8] = []
  /// The memory that is read into.
  private var buffer: [UInt8] = []
  /// Whether the client sends nothing any more.
  private(set) var hasEnded = false

  /// A connection to a door; `closing` becomes readable when it is closed.
  init(_ descriptor: consuming FileDescriptor, to door: DoorSettings, closing: Int32) {
    try? descriptor.setNonBlocking()
    self.descriptor = descriptor
    (self.closing, isPort, writeTime) = (closing, door.port != nil, door.writeTime)
  }

  /// Waits for more to read.
  ///
  /// - Returns: whether something has come; else the time is over, the client has ended, or the door is closed.
  mutating func receive(until deadline: Duration) -> Bool {
    var poll = PollSet(count: 2)
    // A client writes its next request once it has the answer: to read at once would mostly be in vain.
    while !hasEnded {
      let left = deadline - BootClock.now
      guard left > .zero else { return false }
      poll.watch(0, descriptor.number, readable: true)
      poll.watch(1, closing, readable: true)
      guard (try? poll.wait(atMost: left)) != nil, !poll.isReady(1) else { return false }
      if readNow() { return true }
    }
    return false
  }

  /// Reads what has come; false where nothing has.
  mutating func readNow() -> Bool {
    if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: Self.pieceSize) }
    switch descriptor.read(into: &buffer) {
    case .bytes(let count):
      input += buffer[..<count]
      return true
    case .wouldBlock: return false
    default:
      hasEnded = true
      return false
    }
  }

  /// Frees the memory that is read into, until something comes.
  mutating func rest() { buffer = [] }

  /// Writes all of it; false where the client is gone, or takes nothing any more.
  mutating func write(_ bytes: [UInt8]) -> Bool {
    var written = 0
    while written < bytes.count {
      guard let count = writeNow(bytes, from: written) else { return false }
      written += count
      guard count == 0 else { continue }
      var poll = PollSet(count: 2)
      poll.watch(0, descriptor.number, writable: true)
      poll.watch(1, closing, readable: true)
      guard let ready = try? poll.wait(atMost: writeTime), ready > 0, !poll.isReady(1) else { return false }
    }
    return true
  }

  /// Waits until a transfer has something to do, or there is something to read or room to write, as far as that is wanted.
  ///
  /// - Parameters:
  ///   - transfer: the transfer.
  ///   - reading: whether something to read is waited for.
  ///   - writing: whether room to write is.
  /// - Returns: false where the door is closed.
  borrowing func wait(with transfer: borrowing DirectTransfer, reading: Bool, writing: Bool) -> Bool {
    let ready = transfer.wait(with: [
      .init(descriptor.number, readable: reading, writable: writing), .init(closing, readable: true),
    ])
    return !ready[1]
  }

  /// Whether the client has closed the connection: one that has only ended its own sending waits for its answer.
  ///
  /// - Parameter unread: whether something that it has sent may wait to be read: the end of a TCP connection comes behind that,
  ///   and not at all while there is no room for it, so that the kernel is asked who holds the other end.
  /// - Returns: whether it has; for one that only ends its own sending, not.
  func isGone(unread: Bool) -> Bool {
    var poll = PollSet(count: 1)
    poll.watch(0, descriptor.number, hangUp: true)
    guard let ready = try? poll.wait(atMost: .zero), ready > 0 else {
      return isPort && unread && LoopbackSocket.isLeft(byPeerOf: descriptor)
    }
    return poll.isOver(0) || isPort && !LoopbackSocket.isHeld(byPeerOf: descriptor)
  }

  /// Writes as much as goes at once, from a place on; nil where the client is gone.
  mutating func writeNow(_ bytes: [UInt8], from place: Int) -> Int? {
    switch descriptor.send(bytes, place..<bytes.count) {
    case .bytes(let count): count
    case .wouldBlock: 0
    default: nil
    }
  }

  /// Ends the sending direction and reads on for a moment, so that the client sees the answer before the reset that unread
  /// bytes bring about (RFC 9112, section 9.6).
  mutating func linger() {
    try? descriptor.finishSending()
    let deadline = BootClock.now + .seconds(1)
    while !hasEnded, receive(until: deadline) { input = [] }
  }
}
