import TestSupport
import Testing

@testable import ClientSocket

@Suite(.standardTimeLimit) struct ShutdownScanTests {
  private static func scan(_ text: String, pieces: Int) -> Bool {
    var scan = ShutdownScan()
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      let piece = Array(bytes[start..<min(bytes.count, start + pieces)])
      scan.scan(piece, piece.count)
    }
    return scan.isLastRequest
  }

  @Test(arguments: [
    (#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#, true),
    (#"{"method" : "shutdown", "jsonrpc":"2.0","id":1}"#, true),
    ("Content-Length: 44\r\n\r\n" + #"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#, true),
    (#"{"method":"ping"}"# + "\n" + #"{"method":"shutdown"}"#, true),
    (#"{"method":"shutdown"}"# + "\n" + #"{"method":"ping"}"#, false),
    (#"{"method":"login","params":{"password":"shutdown"}}"#, false),
    (#"{"method":"shutdowns"}"#, false),
    (#"{"method":"subscribe","params":{"events":["shuttingDown"]}}"#, false),
    ("", false),
  ])
  func `only the last method decides, however the bytes are cut`(text: String, expected: Bool) {
    for pieces in [1, 3, 1000] { #expect(Self.scan(text, pieces: pieces) == expected) }
  }
}
