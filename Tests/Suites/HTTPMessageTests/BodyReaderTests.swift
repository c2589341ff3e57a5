import TestSupport
import Testing

@testable import HTTPMessage

/// Bodies, in pieces of any size, and responses.
@Suite(.standardTimeLimit) struct BodyReaderTests {
  /// The data of a body, how it ended, and how many bytes follow.
  private static func read(
    _ bytes: [UInt8], _ framing: BodyFraming = .chunked, pieces: Int = 1 << 20
  ) -> (data: [UInt8], end: BodyReader.Event?, left: Int) {
    var reader = BodyReader(framing, longestLine: 16)
    var data: [UInt8] = []
    for start in stride(from: 0, to: max(bytes.count, 1), by: pieces) {
      let piece = bytes[start..<min(start + pieces, bytes.count)]
      var position = 0
      while let event = reader.next(in: piece.span, from: &position) {
        guard case .data(let range) = event else { return (data, event, bytes.count - start - position) }
        data += piece.dropFirst(range.lowerBound).prefix(range.count)
      }
    }
    return (data, nil, 0)
  }

  private static func text(_ body: String, _ framing: BodyFraming = .chunked) -> String {
    let (data, end, left) = read(Array(body.utf8), framing)
    let how = end.map { $0 == .end ? "end" : "malformed" } ?? "incomplete"
    return "\(String(decoding: data, as: UTF8.self)) \(how) \(left)"
  }

  @Test(
    arguments: [
      ("", .length(0), " end 0"), ("abc", .length(0), " end 3"), ("abc", .length(2), "ab end 1"),
      ("abc", .length(4), "abc incomplete 0"), ("0\r\n\r\n", .chunked, " end 0"),
      ("3\r\nabc\r\n0\r\n\r\nGET", .chunked, "abc end 3"),
      ("003;a=\"b\"\r\nabc\r\nA\r\n0123456789\r\n", .chunked, "abc0123456789 incomplete 0"),
      ("1\r\na\r\n0\r\nA: b\r\n\r\n", .chunked, "a end 0"),
    ] as [(String, BodyFraming, String)])
  func `a body has its data, and ends where it says`(_ body: String, _ framing: BodyFraming, _ outcome: String) {
    #expect(Self.text(body, framing) == outcome)
  }

  @Test(arguments: [
    "\r\n", "x\r\n", "-1\r\n", " 1\r\na", "1 \r\na", "1\na", "1\r\nab", "1\r\na\n", "1;\u{1}\r\n",
    "1;aaaaaaaaaaaaaaa\r\n",
    "1000000000000000\r\n", "0\r\n\n", "0\r\nA\r\n", "0\r\n: b\r\n", "0\r\n b\r\n",
    "0\r\nA: aaaaaaaaaaaaaaaa\r\n", "0\r\nA:\r\nB:\r\nC:\r\nD:\r\n",
  ])
  func `a chunk that is none ends the body`(_ body: String) {
    #expect(Self.read(Array(body.utf8)).end == .malformed)
  }

  @Test func `a chunk is no longer than a number can say`() {
    for (digits, end) in [("000000000000001", nil), ("0000000000000001", BodyReader.Event.malformed)] {
      var reader = BodyReader(.chunked, longestLine: 64)
      var position = 0
      #expect(reader.next(in: Array("\(digits)\r\n".utf8).span, from: &position) == end)
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `changed bytes mean the same in pieces of any size`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let good = Array("3;a=b\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\nGET".utf8)
    for _ in 0..<3000 {
      let bytes = changed(good, &random)
      let whole = Self.read(bytes)
      for pieces in [1, Int.random(in: 2...40, using: &random)] {
        let other = Self.read(bytes, pieces: pieces)
        #expect(other.data == whole.data && other.end == whole.end && other.left == whole.left)
      }
    }
  }

  @Test func `no field of a response ends its line early`() {
    let bytes = ResponseMessage.bytes("200 OK", [("A", "b\r\nC: d\0")], body: "x")
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "HTTP/1.1 200 OK\r\nA: b  C: d \r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
  }
}
