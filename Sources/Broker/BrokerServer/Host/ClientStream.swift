import LinuxSystem
import Transport

/// The bytes from and to one client, whatever they travel through.
protocol ClientStream: AnyObject {
  /// Reads the available bytes, without waiting, up to `limit`.
  func read(into buffer: inout [UInt8], upTo limit: Int) -> IOResult
  /// Does the same, and keeps the descriptor that was passed with the bytes until it is taken or dropped.
  func receive(into buffer: inout [UInt8], upTo limit: Int) -> IOResult
  /// Gives the descriptor away that came with the bytes read last; nil where none came, or more than one.
  func takePassed() -> PassedDescriptor?
  /// Writes as much as the stream takes, without waiting.
  func write(_ bytes: Span<UInt8>) -> IOResult
  /// Begins to note when the stream is ready.
  func attach(to loop: EventLoop, _ connection: Connection) throws(Errno)
  /// Chooses the events that the handler gets.
  func setInterest(reading: Bool, writing: Bool, on loop: EventLoop)
  /// The process at the other end, by the kernel; nil where it cannot be asked.
  func peer(_ process: Int32, acceptedAt acceptance: Duration) -> PeerProcess?
  /// Holds the process at the other end; nil where the kernel cannot.
  func holdPeer(_ process: Int32) -> ProcessHandle?
  /// Whether a number still is that of the process at the other end.
  func isStill(_ process: Int32, acceptedAt acceptance: Duration) -> Bool
  /// Ends the stream.
  func close(on loop: EventLoop)
}

extension ClientStream {
  /// Reads: nothing is passed by pipes.
  func receive(into buffer: inout [UInt8], upTo limit: Int) -> IOResult { read(into: &buffer, upTo: limit) }

  /// Nil, as above.
  func takePassed() -> PassedDescriptor? { nil }

  /// Nil: bytes that come by pipes have no one process behind them.
  func peer(_ process: Int32, acceptedAt acceptance: Duration) -> PeerProcess? { nil }

  /// Nil, as above.
  func holdPeer(_ process: Int32) -> ProcessHandle? { nil }

  /// False, as above.
  func isStill(_ process: Int32, acceptedAt acceptance: Duration) -> Bool { false }
}

/// A connection on the socket.
final class SocketStream: ClientStream {
  private let descriptor: FileDescriptor
  private var registration: Transport.Registration?
  private var passed: PassedDescriptor?

  /// Takes over a connected socket.
  init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }

  func read(into buffer: inout [UInt8], upTo limit: Int) -> IOResult { descriptor.read(into: &buffer, upTo: limit) }

  func receive(into buffer: inout [UInt8], upTo limit: Int) -> IOResult {
    let received = descriptor.receivePassed(into: &buffer, upTo: limit)
    guard received.descriptor != nil || received.hasClosed else { return received.result }
    // One at a time: where a second one comes before the first is taken, it is not known which request means which.
    passed = passed == nil ? received.descriptor : nil
    return received.result
  }

  func takePassed() -> PassedDescriptor? {
    defer { passed = nil }
    return passed
  }

  func write(_ bytes: Span<UInt8>) -> IOResult { descriptor.send(bytes) }

  func attach(to loop: EventLoop, _ connection: Connection) throws(Errno) {
    let (reading, writing) = connection.interest
    registration = try loop.register(descriptor, ReadyEvents(reading: reading, writing: writing), connection)
  }

  func setInterest(reading: Bool, writing: Bool, on loop: EventLoop) {
    guard let registration else { return }
    try? loop.update(registration, ReadyEvents(reading: reading, writing: writing))
  }

  func peer(_ process: Int32, acceptedAt acceptance: Duration) -> PeerProcess? {
    PeerProcess(of: descriptor, pid: process, acceptedAt: acceptance)
  }

  func holdPeer(_ process: Int32) -> ProcessHandle? { ProcessHandle(peerOf: descriptor, process) }

  func isStill(_ process: Int32, acceptedAt acceptance: Duration) -> Bool {
    PeerProcess.isStill(process, at: descriptor, acceptedAt: acceptance)
  }

  /// The descriptor is this stream's alone, which the server closes in the same turn.
  func close(on loop: EventLoop) {
    if let registration { loop.deregister(registration, willClose: true) }
    registration = nil
    passed = nil
  }
}

/// Standard input and output, which are two descriptors.
///
/// Each of them hangs up on its own: a pipe whose writer has closed it says so together with the end of the input, and
/// answers can still be written then; a reader that has gone ends the connection.
final class StdioStream: ClientStream {
  private let channel: StdioChannel
  private var inputHandler: ConnectionHandler?
  private var input: Transport.Registration?
  private var output: Transport.Registration?

  /// Takes over both streams.
  init(_ channel: consuming StdioChannel) {
    self.channel = channel
  }

  func read(into buffer: inout [UInt8], upTo limit: Int) -> IOResult {
    channel.input.read(into: &buffer, upTo: limit)
  }

  func write(_ bytes: Span<UInt8>) -> IOResult { channel.output.write(bytes) }

  func attach(to loop: EventLoop, _ connection: Connection) throws(Errno) {
    inputHandler = ConnectionHandler(connection, .input)
    output = try loop.register(channel.output.descriptor, [], ConnectionHandler(connection, .output))
    try attachInput(to: loop)
  }

  private func attachInput(to loop: EventLoop) throws(Errno) {
    guard let inputHandler else { return }
    input = try loop.register(channel.input.descriptor, .readable, inputHandler)
  }

  /// Deregisters an input while reading is paused: epoll reports EPOLLHUP whatever the interest, and the loop would
  /// spin.
  func setInterest(reading: Bool, writing: Bool, on loop: EventLoop) {
    if let output { try? loop.update(output, writing ? .writable : []) }
    if reading, input == nil { try? attachInput(to: loop) }
    if !reading { detachInput(from: loop) }
  }

  private func detachInput(from loop: EventLoop) {
    if let input { loop.deregister(input) }
    input = nil
  }

  func close(on loop: EventLoop) {
    detachInput(from: loop)
    if let output { loop.deregister(output) }
    output = nil
    inputHandler = nil
  }
}

/// The event handler of one direction of a connection that has two descriptors.
private final class ConnectionHandler: EventHandler {
  private let connection: Connection
  private let side: ConnectionSide

  init(_ connection: Connection, _ side: ConnectionSide) {
    self.connection = connection
    self.side = side
  }

  func ready(_ events: ReadyEvents) { connection.announced.note(connection, events, side) }
}
