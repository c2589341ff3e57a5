import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import ClientSocket

@Suite(.standardTimeLimit) struct RelayTests {
  /// A relay on its own thread, with the other ends in the test's hands.
  private final class Joint: Sendable {
    let outcome = Mutex<Relay.Outcome?>(nil)
    let input = Mutex<FileDescriptor?>(nil)
    let output: FileDescriptor
    let broker = Mutex<FileDescriptor?>(nil)
    private let thread = Mutex<pthread_t?>(nil)

    init() throws {
      signal(SIGPIPE, SIG_IGN)
      let input = try FileDescriptor.pipe()
      let output = try FileDescriptor.pipe()
      let pair = try UnixSocket.pair()
      let numbers = [
        try input.readEnd.duplicate().release(), try output.writeEnd.duplicate().release(),
        try pair.first.duplicate().release(),
      ]
      self.input.withLock { $0 = try? input.writeEnd.duplicate() }
      self.output = try output.readEnd.duplicate()
      broker.withLock { $0 = try? pair.second.duplicate() }
      let started = Threads.start { [self] in
        guard let input = try? InheritedStream(FileDescriptor(owning: numbers[0]), .reading),
          let output = try? InheritedStream(FileDescriptor(owning: numbers[1]), .writing)
        else { return }
        let relay = Relay(input: input, output: output, socket: FileDescriptor(owning: numbers[2]))
        let outcome = relay.run()
        self.outcome.withLock { $0 = outcome }
      }
      thread.withLock { $0 = started }
    }

    func ended() -> Relay.Outcome? {
      if let thread = thread.withLock({ $0 }) { pthread_join(thread, nil) }
      return outcome.withLock { $0 }
    }

    func read(_ count: Int) -> [UInt8] { Joint.read(output, count) }

    static func read(_ descriptor: borrowing FileDescriptor, _ count: Int) -> [UInt8] {
      var result: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65536)
      while result.count < count, case .bytes(let some) = descriptor.read(into: &buffer) { result += buffer[..<some] }
      return result
    }
  }

  @Test func `bytes go both ways, and the end of the input waits for the last answer`() throws {
    let joint = try Joint()
    let input = try #require(joint.input.withLock { $0.take()?.release() })
    let broker = FileDescriptor(owning: try #require(joint.broker.withLock { $0.take()?.release() }))
    do {
      let input = FileDescriptor(owning: input)
      #expect(input.write([1, 2, 3], 0..<3) == .bytes(3))
      #expect(Joint.read(broker, 3) == [1, 2, 3])
      #expect(broker.send([4], 0..<1) == .bytes(1))
      #expect(joint.read(1) == [4])
    }
    var buffer: [UInt8] = [0]
    #expect(broker.read(into: &buffer) == .endOfStream)
    #expect(broker.send([5], 0..<1) == .bytes(1))
    broker.close()
    #expect(joint.read(1) == [5])
    #expect(joint.ended() == .inputEnded)
  }

  @Test func `the end of the broker ends the relay at once`() throws {
    let joint = try Joint()
    let broker = FileDescriptor(owning: try #require(joint.broker.withLock { $0.take()?.release() }))
    #expect(broker.send([9], 0..<1) == .bytes(1))
    broker.close()
    #expect(joint.ended() == .brokerClosed)
    #expect(joint.read(1) == [9])
  }

  @Test func `the broker's end after a shutdown request is no failure`() throws {
    let joint = try Joint()
    let input = FileDescriptor(owning: try #require(joint.input.withLock { $0.take()?.release() }))
    let broker = FileDescriptor(owning: try #require(joint.broker.withLock { $0.take()?.release() }))
    let request = Array(#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#.utf8)
    try input.writeAll(request.span)
    #expect(Joint.read(broker, request.count) == request)
    let answer = Array("{}\n".utf8)
    try broker.sendAll(answer.span)
    broker.close()
    #expect(joint.ended() == .shutDown)
    #expect(joint.read(answer.count) == answer)
    input.close()
  }

  @Test func `ten megabytes each way at once arrive unchanged`() throws {
    let joint = try Joint()
    let size = 10 << 20
    let pattern = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 + $0 >> 8) }
    let input = try #require(joint.input.withLock { $0.take()?.release() })
    let broker = try #require(joint.broker.withLock { $0.take()?.release() })
    let writer = Threads.start {
      let input = FileDescriptor(owning: input)
      try? input.writeAll(pattern.span)
    }
    let echo = Threads.start {
      let broker = FileDescriptor(owning: broker)
      var buffer = [UInt8](repeating: 0, count: 30000)
      while case .bytes(let count) = broker.read(into: &buffer) {
        try? broker.sendAll(buffer.span.extracting(first: count))
      }
    }
    #expect(joint.read(size) == pattern)
    pthread_join(writer, nil)
    pthread_join(echo, nil)
    #expect(joint.ended() == .inputEnded)
  }
}
