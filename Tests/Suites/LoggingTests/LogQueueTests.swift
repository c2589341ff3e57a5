import LinuxSystem
import Logging
import Synchronization
import TestSupport
import Testing

/// Lines reach a descriptor that waits, and their writers never do.
@Suite(.standardTimeLimit) struct LogQueueTests {
  /// A descriptor that takes a line only when the test lets it.
  private final class Reader: Sendable {
    private let gate = Semaphore()
    private let lines = Mutex<[String]>([])

    func take(_ line: [UInt8]) {
      gate.wait()
      lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }

    func allow(_ count: Int) { for _ in 0..<count { gate.signal() } }

    var all: [String] { lines.withLock { $0 } }
  }

  private static func line(_ number: Int) -> [UInt8] { Array("line \(number)\n".utf8) }

  @Test func `lines beyond the bound are dropped, and their number stands in their place`() throws {
    let reader = Reader()
    let queue = LogQueue(format: LogFormat(isJournal: true), byteLimit: 100) { reader.take($0) }
    try queue.start()
    for number in 0..<1000 { queue.append(Self.line(number)) }
    reader.allow(1000)
    #expect(queue.flush(within: Patience.ceiling))
    let told = reader.all
    #expect(told.first == "line 0\n")
    let place = try #require(told.firstIndex { $0.contains("dropped lines lines=") })
    let count = try #require(Int(told[place].split(separator: "=").last?.dropLast() ?? ""))
    #expect(told.count - 1 + count == 1000 && count > 900)
    queue.append(Self.line(1000))
    #expect(queue.flush(within: Patience.ceiling))
    #expect(reader.all.last == "line 1000\n" && reader.all.count { $0.contains("dropped") } == 1)
  }

  @Test func `the number of dropped lines comes before the line that finds room again`() throws {
    let reader = Reader()
    let queue = LogQueue(format: LogFormat(isJournal: true), byteLimit: 120) { reader.take($0) }
    // Nothing empties it yet.
    for number in 0..<100 { queue.append(Self.line(number)) }
    try queue.start()
    reader.allow(5)
    #expect(Patience.wait { reader.all.count == 5 })
    queue.append(Self.line(200))
    reader.allow(1000)
    #expect(queue.flush(within: Patience.ceiling))
    let told = reader.all
    let place = try #require(told.firstIndex { $0.contains("dropped lines") })
    #expect(place == told.count - 2 && told.last == "line 200\n", "\(told)")
  }

  @Test func `the end of a run waits for a reader no longer than it is told`() throws {
    let reader = Reader()
    let queue = LogQueue(format: LogFormat()) { reader.take($0) }
    try queue.start()
    queue.append(Self.line(1))
    #expect(!queue.flush(within: .milliseconds(1)))
    reader.allow(1)
    #expect(queue.flush(within: Patience.ceiling))
  }
}
