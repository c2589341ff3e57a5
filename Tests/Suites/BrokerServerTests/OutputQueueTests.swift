import JSON
import LinuxSystem
import TestSupport
import Testing
import Transport

@testable import BrokerServer

/// The bytes that wait for a client: their order, their number, and the memory that they take.
@Suite(.standardTimeLimit) struct OutputQueueTests {
  /// A stream that takes so many bytes at a time, of one block at most.
  private final class SlowStream: ClientStream {
    private let step: Int
    private(set) var taken: [UInt8] = []

    init(step: Int) { self.step = step }

    func read(into buffer: inout [UInt8], upTo limit: Int) -> IOResult { .wouldBlock }
    func write(_ bytes: Span<UInt8>) -> IOResult {
      let count = min(step, bytes.count)
      taken.append(copying: bytes.extracting(first: count))
      return .bytes(count)
    }
    func attach(to loop: EventLoop, _ connection: Connection) throws(Errno) {}
    func setInterest(reading: Bool, writing: Bool, on loop: EventLoop) {}
    func close(on loop: EventLoop) {}
  }

  /// Sizes of messages: a token's, an event's, those around the size of a block, and those of the longest answers.
  private static let sizes = [
    100, 700, 3000, OutputQueue.blockSize - 1, OutputQueue.blockSize, OutputQueue.blockSize + 1, 190_000,
  ]

  private static func append(_ message: [UInt8], to queue: inout OutputQueue) {
    queue.bytes.makeRoom(for: message.count)
    queue.bytes.append(copying: message.span)
  }

  private static func message(_ number: Int, of size: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
  }

  @Test(arguments: sizes)
  func `messages that wait take little more memory than their bytes`(size: Int) {
    var queue = OutputQueue()
    while queue.count < max(1 << 19, 2 * size) {
      Self.append(Self.message(1, of: size), to: &queue)
      let most = queue.count * 9 / 8 + 2 * OutputQueue.blockSize
      guard queue.capacity > most else { continue }
      Issue.record("\(queue.capacity) bytes for \(queue.count)")
      return
    }
  }

  @Test(arguments: sizes, [1 << 10, 1 << 16, 212_992])
  func `messages go out whole and in their order, however much is taken at a time`(size: Int, step: Int) {
    let stream = SlowStream(step: step)
    var queue = OutputQueue()
    var (said, number) = ([UInt8](), 0)
    let most = max(1 << 18, 2 * size)
    // More is said than is taken, and then nothing more.
    while said.count < most || !queue.isEmpty {
      for _ in 0..<3 where said.count < most {
        let message = Self.message(number, of: size)
        Self.append(message, to: &queue)
        said += message
        number += 1
      }
      if case .bytes(let count) = queue.write(to: stream) { queue.sent(count) }
      guard queue.count == said.count - stream.taken.count, queue.isEmpty == (queue.count == 0) else {
        Issue.record("\(queue.count) of \(said.count) bytes wait, and \(stream.taken.count) were taken")
        return
      }
    }
    #expect(stream.taken == said)
  }

  @Test func `what is forgotten takes no memory`() {
    var queue = OutputQueue()
    for number in 0..<8 { Self.append(Self.message(number, of: 50_000), to: &queue) }
    queue.holdsToken = true
    queue.clear()
    #expect(queue.isEmpty && queue.count == 0 && queue.capacity == 0 && !queue.holdsToken)
  }
}
