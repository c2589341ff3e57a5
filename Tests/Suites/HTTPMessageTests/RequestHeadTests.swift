import TestSupport
import Testing

@testable import HTTPMessage

/// Heads of requests, in pieces of any size.
@Suite(.standardTimeLimit) struct RequestHeadTests {
  /// What a reader makes of a text, given in pieces of a size.
  private static func read(_ bytes: [UInt8], pieces: Int = 1 << 20, longest: Int = 512) -> (RequestHead, String) {
    var head = RequestHead(longest: longest, mostFields: 8)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      switch head.read(bytes[start..<min(start + pieces, bytes.count)].span) {
      case .incomplete: continue
      case .complete(let count): return (head, "complete \(start + count)")
      case .refused(let status): return (head, "\(status)")
      }
    }
    return (head, "incomplete")
  }

  private static func outcome(_ text: String) -> String { read(Array(text.utf8)).1 }

  @Test func `a request has a method, a target, fields and the way in which its body ends`() {
    let text = "POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nA:\t x y \r\nEMPTY:\r\nContent-Length: 007\r\n\r\n"
    let (head, outcome) = Self.read(Array((text + "body").utf8))
    #expect(outcome == "complete \(text.utf8.count)")
    #expect(head.method == "POST" && head.target.elementsEqual("/a?b=c".utf8) && head.body == .length(7))
    #expect(head.value(of: "a").map { String(decoding: $0, as: UTF8.self) } == "x y")
    #expect(head.value(of: "empty")?.isEmpty == true && head.value(of: "b") == nil)
    let chunked = Self.read(Array("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n".utf8)).0
    #expect(chunked.body == .chunked)
    #expect(Self.read(Array("GET / HTTP/1.0\r\n\r\n".utf8)).0.body == .length(0))
  }

  @Test(arguments: [
    "\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", "GET / HTTP/2.0\r\n",
    "GET / http/1.1\r\n",
    "G(T / HTTP/1.1\r\n", "GET /\u{e9} HTTP/1.1\r\n", "GET / HTTP/1.1\n", "\n", "GET /\0 HTTP/1.1\r\n",
    "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n", "GET / HTTP/1.1\r\nHost : a\r\n",
    "GET / HTTP/1.1\r\n Host: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n", "GET / HTTP/1.1\r\nHost: a\n",
    "GET / HTTP/1.1\r\nHost: a\rB: c\r\n", "GET / HTTP/1.1\r\n: a\r\n", "GET / HTTP/1.1\r\nA\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n", "GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n",
    "GET / HTTP/1.1\r\nContent-Length: +1\r\n", "GET / HTTP/1.1\r\nContent-Length: \r\n",
    "GET / HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
  ])
  func `what servers understand differently is refused`(_ text: String) {
    #expect(Self.outcome(text) == "400")
  }

  @Test func `what is too long, has too many fields or another coding has a status of its own`() {
    let start = "GET / HTTP/1.1\r\nHost: h\r\n"
    #expect(Self.outcome(start + String(repeating: "a", count: 512)) == "431")
    #expect(Self.outcome(start + String(repeating: "a:\r\n", count: 7) + "\r\n").hasPrefix("complete"))
    #expect(Self.outcome(start + String(repeating: "a:\r\n", count: 8) + "\r\n") == "431")
    #expect(Self.outcome(start + "Transfer-Encoding: gzip, chunked\r\n") == "501")
    // What follows the head is not counted.
    #expect(Self.outcome(start + "\r\n" + String(repeating: "a", count: 4096)) == "complete \(start.utf8.count + 2)")
  }

  @Test func `nothing is read behind the end, and nothing is left after wiping`() {
    var head = RequestHead(longest: 512)
    let text = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    #expect(head.read(Array(text.utf8).span) == .complete(count: text.utf8.count))
    #expect(head.read([0].span) == .complete(count: 0))
    head.wipe()
    #expect(head.method.isEmpty && head.target.isEmpty && head.value(of: "host") == nil)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `changed bytes mean the same in pieces of any size`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let good = Array(
      "POST /a?b=c HTTP/1.1\r\nHost: h\r\nA: b\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc".utf8)
    for _ in 0..<3000 {
      let bytes = changed(good, &random)
      let whole = Self.read(bytes, longest: 90)
      for pieces in [1, Int.random(in: 2...40, using: &random)] {
        let other = Self.read(bytes, pieces: pieces, longest: 90)
        #expect(other.1 == whole.1 && other.0.body == whole.0.body && other.0.target == whole.0.target)
      }
    }
  }
}

/// Some bytes with a few of them changed, removed or doubled.
func changed(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
  var bytes = bytes
  for _ in 0..<Int.random(in: 0...4, using: &random) {
    let place = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes[place] = "\r\n :;0f".utf8.randomElement(using: &random) ?? 0
    case 2: bytes.remove(at: place)
    default: bytes.insert(bytes[place], at: place)
    }
    if bytes.isEmpty { bytes = [0] }
  }
  return bytes
}
