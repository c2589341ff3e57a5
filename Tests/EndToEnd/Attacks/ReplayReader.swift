import Glibc
import JSON
import LinuxSystem
import TestSupport

/// A client that subscribes from the first event on, stays, and insists that it sees each event once, in order.
final class ReplayReader {
  /// How fast it reads.
  enum Pace {
    /// As fast as it can.
    case fast
    /// 2 MB a second: some seconds for a full history.
    case slow

    /// How many bytes it reads at a time.
    fileprivate var byteCount: Int { self == .fast ? 1 << 16 : 1 << 13 }
    /// How long it waits between two reads, in nanoseconds.
    fileprivate var pause: Int64 { self == .fast ? 0 : 4_000_000 }
  }

  private static let request = Array(
    (#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"since":0}}"# + "\n").utf8)

  private let descriptor: FileDescriptor
  private let pace: Pace
  private let last: Int
  private var buffer: [UInt8]
  /// The beginning of a line whose end has not come.
  private var rest: [UInt8] = []
  /// What stands before the sequence in each event; nil until the subscription is answered.
  private var head: [UInt8]?
  private var nextRead: Int64 = 0
  /// The sequence of the last event that it has seen.
  private(set) var sequence = 0

  /// Subscribes to the events from 1 to `last`.
  init(_ path: String, _ pace: Pace, through last: Int) throws {
    self.pace = pace
    self.last = last
    buffer = [UInt8](repeating: 0, count: pace.byteCount)
    descriptor = try UnixSocket.connect(to: path)
    try descriptor.sendAll(Self.request.span)
  }

  /// Whether it has seen every event.
  var isFinished: Bool { sequence == last }

  /// Reads once, if it is time; false if there was nothing.
  ///
  /// - Throws: ``TestFailure`` for an event that is not the next one, and where the connection ends.
  func step() throws -> Bool {
    guard !isFinished, BootClock.nanoseconds >= nextRead else { return false }
    switch descriptor.receive(into: &buffer) {
    case .bytes(let count):
      nextRead = BootClock.nanoseconds + pace.pause
      rest += buffer[..<count]
      try takeLines()
      return true
    case .wouldBlock: return false
    case .endOfStream, .failed: throw TestFailure("the connection ended behind event \(sequence) of \(last)")
    }
  }

  private func takeLines() throws {
    var start = 0
    while !isFinished, let end = end(ofLineAt: start) {
      if let head { try takeEvent(start..<end, head) } else { head = try Self.head(answer: Array(rest[start..<end])) }
      start = end + 1
    }
    rest.removeFirst(start)
  }

  private func end(ofLineAt start: Int) -> Int? {
    rest.withUnsafeBytes { bytes in
      guard start < bytes.count, let first = bytes.baseAddress,
        let hit = memchr(first + start, Int32(UInt8(ascii: "\n")), bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(hit) - first
    }
  }

  /// What the events of a subscription begin with, which its answer names.
  private static func head(answer: [UInt8]) throws -> [UInt8] {
    let result = try JSONDocument(parsing: answer).root.required("result")
    guard result["resync"] == nil else { throw TestFailure("the history is not there to be replayed") }
    let name = try result.required("subscriptionId").string()
    return Array(#"{"jsonrpc":"2.0","method":"event","params":{"subscriptionId":"\#(name)","sequence":"#.utf8)
  }

  /// Compares bytes: a test that parsed every event would keep the daemon from its processor.
  private func takeEvent(_ line: Range<Int>, _ head: [UInt8]) throws {
    let expected = head + Array("\(sequence + 1),".utf8)
    let isExpected = rest.withUnsafeBytes { bytes in
      line.count > expected.count
        && bytes.baseAddress.map { memcmp($0 + line.lowerBound, expected, expected.count) } == 0
    }
    guard isExpected else {
      let text = String(decoding: rest[line].prefix(200), as: UTF8.self)
      throw TestFailure("behind event \(sequence) of \(last) came \(text)")
    }
    sequence += 1
  }
}
