import JSONRPC
import TestSupport
import Testing

/// The beginning of a stream, and what it shows.
struct DetectionCase: Sendable, CustomTestStringConvertible {
  let text: String
  let framing: Framing?
  let outcomes: [StreamDriver.Outcome]

  var testDescription: String { text.debugDescription }
}

@Suite(.standardTimeLimit) struct FrameReaderTests {
  private static let detections: [DetectionCase] = [
    .init(text: "{}\n", framing: .lines, outcomes: [.message("{}")]),
    .init(text: "[]\n", framing: .lines, outcomes: [.message("[]")]),
    .init(text: " \t\r\n\n\r\n {}\r\n", framing: .lines, outcomes: [.message("{}")]),
    .init(text: "\u{FEFF}{}\n", framing: .lines, outcomes: [.message("{}")]),
    .init(text: "\u{FEFF}\n\n[]\n", framing: .lines, outcomes: [.message("[]")]),
    .init(text: "{}", framing: .lines, outcomes: [.message("{}")]),
    .init(text: "{ not json\n", framing: .lines, outcomes: [.message("{ not json")]),
    .init(text: "Content-Length: 2\r\n\r\n{}", framing: .headers, outcomes: [.message("{}")]),
    .init(text: "content-length: 2\r\n\r\n{}", framing: .headers, outcomes: [.message("{}")]),
    .init(text: "CONTENT-LENGTH:2\r\n\r\n{}", framing: .headers, outcomes: [.message("{}")]),
    .init(text: "Content-Length : 2 \r\n\r\n{}", framing: .headers, outcomes: [.message("{}")]),
    .init(text: "Content-Length: 2\n\n{}", framing: .headers, outcomes: [.message("{}")]),
    .init(text: "\u{FEFF}Content-Length: 2\r\n\r\n{}", framing: .headers, outcomes: [.message("{}")]),
    .init(text: "\r\n\r\nContent-Length: 2\r\n\r\n{}", framing: .headers, outcomes: [.message("{}")]),
    .init(
      text: "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
      framing: .headers, outcomes: [.message("{}")]),
    .init(
      text: "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=\"utf8\"\r\n\r\n{}",
      framing: .headers, outcomes: [.message("{}")]),
    .init(text: "Content-Length: 2\r\nX-Other: é\r\n\r\n{}", framing: .headers, outcomes: [.message("{}")]),
    .init(text: "Content-Length: 0\r\n\r\n", framing: .headers, outcomes: [.message("")]),
    .init(text: "Content-Length: 3\r\n\r\n{}", framing: .headers, outcomes: []),
    .init(
      text: "Content-Length: 2\r\nContent-Type: x; charset=latin1\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Length: -2\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Length: +2\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Length: 2x\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Length: 0x2\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Length:\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Length: 99999999999999999999\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Type: application/json\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "Content-Length: 2\r\nno colon\r\n\r\n{}", framing: .headers, outcomes: [.broken]),
    .init(text: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", framing: nil, outcomes: [.broken]),
    .init(text: "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", framing: nil, outcomes: [.broken]),
    .init(text: "Content\r\n", framing: nil, outcomes: [.broken]),
    .init(text: "Content-Lengthy: 2\r\n\r\n{}", framing: nil, outcomes: [.broken]),
    .init(text: "Con", framing: nil, outcomes: [.broken]),
    .init(text: "Content-Length" + String(repeating: " ", count: 300), framing: nil, outcomes: [.broken]),
    .init(text: "quit\n", framing: nil, outcomes: [.broken]),
    .init(text: "\"text\"\n", framing: nil, outcomes: [.broken]),
    .init(text: "1\n", framing: nil, outcomes: [.broken]),
    .init(text: "\u{0}{}\n", framing: nil, outcomes: [.broken]),
    .init(text: "\u{FEFF}\u{FEFF}{}\n", framing: nil, outcomes: [.broken]),
    .init(text: "", framing: nil, outcomes: []),
    .init(text: "\n\n  \n", framing: nil, outcomes: []),
  ]

  @Test(arguments: detections)
  func `the first bytes decide`(_ sample: DetectionCase) {
    var whole = StreamDriver()
    whole.receive(sample.text.utf8)
    whole.receive([], isFinal: true)
    #expect(whole.outcomes == sample.outcomes)
    #expect(whole.reader.framing == sample.framing)
    #expect(StreamDriver.outcomes(sample.text.utf8.map { [$0] }) == sample.outcomes)
  }

  private static let streams = [
    "\u{FEFF}\r\n {\"a\":1}\n\n\r\n[1]\r\n  \n{\"é😀\":\"\u{2028}\"}\nlast",
    "{\"a\":1}\n" + String(repeating: "x", count: 64) + "\n{\"b\":2}\n" + String(repeating: "y", count: 30)
      + "\r\n{}\n",
    "\u{FEFF}Content-Length: 7\r\n\r\n{\"a\":1}\r\n\r\ncontent-type: x\r\nCONTENT-LENGTH: 2\r\n\r\n[]Content-Length: 4\n\n\"é\"",
    "Content-Length: 2\r\n\r\n{}Content-Length: 64\r\n\r\n" + String(repeating: "\n", count: 64)
      + "Content-Length: 2\r\n\r\n[]",
  ]

  @Test(arguments: streams)
  func `however the reads cut the stream, the messages are the same`(_ text: String) {
    let bytes = Array(text.utf8)
    let expected = StreamDriver.outcomes([bytes], limit: 20)
    #expect(expected.count >= 3 && !expected.contains(.broken))
    for place in 0...bytes.count {
      let pieces = [Array(bytes[..<place]), Array(bytes[place...])]
      #expect(StreamDriver.outcomes(pieces, limit: 20) == expected, "split at \(place)")
    }
    #expect(StreamDriver.outcomes(bytes.map { [$0] }, limit: 20) == expected)
    for size in 2...9 {
      let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
      #expect(StreamDriver.outcomes(pieces, limit: 20) == expected, "pieces of \(size)")
    }
  }

  @Test(arguments: [(19, false), (20, false), (21, true), (22, true), (5000, true)], ["\n", "\r\n"])
  func `the limit of a line is exact, and the next message is read`(_ size: (Int, Bool), _ end: String) {
    let (count, isTooLong) = size
    let body = "{" + String(repeating: "x", count: count - 1)
    let expected: [StreamDriver.Outcome] = [isTooLong ? .tooLong : .message(body), .message("{}")]
    let stream = body + end + "{}" + end
    #expect(StreamDriver.outcomes(stream, limit: 20) == expected)
    #expect(StreamDriver.outcomes(stream.utf8.map { [$0] }, limit: 20) == expected)
  }

  @Test(arguments: [(19, false), (20, false), (21, true), (5000, true)])
  func `the limit of a body is exact, and the next message is read`(_ count: Int, _ isTooLong: Bool) {
    let body = String(repeating: "\n", count: count)
    let expected: [StreamDriver.Outcome] = [isTooLong ? .tooLong : .message(body), .message("{}")]
    let stream = "Content-Length: \(count)\r\n\r\n\(body)Content-Length: 2\r\n\r\n{}"
    #expect(StreamDriver.outcomes(stream, limit: 20) == expected)
    #expect(StreamDriver.outcomes(stream.utf8.map { [$0] }, limit: 20) == expected)
  }

  @Test func `an over-long message is told before its end, and nothing of it is kept`() {
    var lines = StreamDriver(limit: 20)
    lines.receive(Array(repeating: UInt8(ascii: "{"), count: 30))
    #expect(lines.outcomes == [.tooLong] && lines.pendingCount == 0)
    for _ in 0..<100 { lines.receive(Array(repeating: UInt8(ascii: "x"), count: 1000)) }
    #expect(lines.outcomes == [.tooLong] && lines.pendingCount == 0)
    var headers = StreamDriver(limit: 20)
    headers.receive("Content-Length: 9223372036854775807\r\n\r\n".utf8)
    #expect(headers.outcomes == [.tooLong] && headers.pendingCount == 0)
    for _ in 0..<100 { headers.receive(Array(repeating: UInt8(ascii: "x"), count: 1000)) }
    #expect(headers.outcomes == [.tooLong] && headers.pendingCount == 0)
  }

  @Test(arguments: ["\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}", "\u{1E}", "\u{0}"])
  func `only a line feed ends a line`(_ other: String) {
    let message = "{\"a\":\"x\(other)y\"}"
    #expect(StreamDriver.outcomes(message + "\n{}\n") == [.message(message), .message("{}")])
  }

  @Test func `only the last carriage return before a line feed belongs to the line's end`() {
    #expect(StreamDriver.outcomes("{}\r\r\n{}\r \n") == [.message("{}\r"), .message("{}\r ")])
  }

  @Test func `a million blank lines cost no stack and no memory`() {
    var driver = StreamDriver()
    for _ in 0..<10 { driver.receive(Array(repeating: UInt8(ascii: "\n"), count: 50000)) }
    #expect(driver.pendingCount == 0)
    driver.receive("{}\n".utf8)
    for _ in 0..<10 { driver.receive(Array(repeating: UInt8(ascii: "\n"), count: 50000)) }
    #expect(driver.pendingCount == 0)
    driver.receive("[]\n".utf8)
    #expect(driver.outcomes == [.message("{}"), .message("[]")])
  }

  @Test func `a header block without end is broken, even of blank lines alone`() {
    for filler in ["X-Filler: abcdefghij\r\n", "\r\n"] {
      var driver = StreamDriver(framing: .headers)
      for _ in 0..<5000 where driver.outcomes.isEmpty { driver.receive(filler.utf8) }
      #expect(driver.outcomes == [.broken])
    }
  }

  @Test func `an unterminated last line counts when the stream ends`() {
    var driver = StreamDriver()
    driver.receive("{}\n[1]".utf8)
    #expect(driver.outcomes == [.message("{}")])
    driver.receive([], isFinal: true)
    #expect(driver.outcomes == [.message("{}"), .message("[1]")])
    driver.receive([], isFinal: true)
    #expect(driver.outcomes.count == 2 && driver.pendingCount == 0)
  }

  @Test func `a body that the stream's end cuts short is no message`() {
    #expect(StreamDriver.outcomes("Content-Length: 10\r\n\r\n{}") == [])
    #expect(StreamDriver.outcomes("Content-Length: 2\r\n\r\n{}Content-Len") == [.message("{}")])
  }

  @Test func `a framing that was given is not detected`() {
    var lines = StreamDriver(framing: .lines)
    lines.receive("GET / HTTP/1.1\n".utf8)
    #expect(lines.outcomes == [.message("GET / HTTP/1.1")])
    var headers = StreamDriver(framing: .headers)
    headers.receive("{}\n".utf8)
    #expect(headers.outcomes == [.broken])
  }
}
