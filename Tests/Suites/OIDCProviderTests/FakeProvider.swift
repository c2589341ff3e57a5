import HTTP
import LinuxSystem
import Synchronization
import TestSupport

/// A server on this machine that answers as a test says, one connection after the other.
///
/// It has a thread of its own: a task would begin behind all tests that were begun before.
final class FakeProvider: Sendable {
  /// A request as it came.
  struct Request: Sendable {
    var method = ""
    var path = ""
    /// Under names in lower case.
    var fields: [String: String] = [:]
    /// The body, as it came.
    var body = ""

    /// The fields of a form; the last of a name.
    var form: [String: String] {
      Dictionary(body.split(separator: "&").map { Self.pair($0) }) { $1 }
    }

    private static func pair(_ text: Substring) -> (String, String) {
      let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (decoded(halves[0]), halves.count > 1 ? decoded(halves[1]) : "")
    }

    /// Form decoding.
    static func decoded(_ text: Substring) -> String {
      var bytes: [UInt8] = []
      var rest = Array(text.utf8)[...]
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
          bytes.append(value)
          rest = rest.dropFirst(2)
        } else {
          bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// An answer.
  struct Reply: Sendable {
    var bytes: [UInt8]

    /// A whole response.
    init(_ status: Int, _ body: String, _ fields: [String] = ["Content-Type: application/json"]) {
      let head =
        ["HTTP/1.1 \(status) Something"] + fields + ["Content-Length: \(body.utf8.count)", "Connection: close"]
      bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    /// Any bytes.
    init(raw bytes: [UInt8]) { self.bytes = bytes }

    /// Nothing, and the connection is closed.
    static let lost = Reply(raw: [])
    /// There is no such thing here.
    static let notFound = Reply(404, "", [])
  }

  private let socket: Socket
  private let ledger = Mutex<[Request]>([])

  private final class Socket: Sendable {
    let listening: LoopbackSocket.Listening
    let bell: EventCounter
    init() throws {
      listening = try LoopbackSocket.listen(on: .ipv4, port: 0)
      bell = try EventCounter()
    }
  }

  private init() throws { socket = try Socket() }

  /// Its address, which is its issuer in most tests.
  var issuer: String { "http://127.0.0.1:\(socket.listening.port)" }
  /// What it was asked, in order.
  var requests: [Request] { ledger.withLock { $0 } }
  /// What it was asked at a path.
  func requests(at path: String) -> [Request] { requests.filter { $0.path == path } }

  /// Runs a test with a server.
  static func run(
    _ answer: @escaping @Sendable (Request, _ issuer: String) -> Reply,
    _ body: (FakeProvider) async throws -> Void
  ) async throws {
    let provider = try FakeProvider()
    let serving = Threads.start { provider.serve(answer) }
    let result: Result<Void, any Error>
    do { result = .success(try await body(provider)) } catch { result = .failure(error) }
    provider.socket.bell.raise()
    Threads.join(serving)
    try result.get()
  }

  /// Runs a test with a server that answers everything in one way.
  static func run(always reply: Reply, _ body: (FakeProvider) async throws -> Void) async throws {
    let answer: @Sendable (Request, String) -> Reply = { _, _ in reply }
    try await run(answer, body)
  }

  private func serve(_ answer: @Sendable (Request, String) -> Reply) {
    while true {
      var set = PollSet(count: 2)
      set.watch(0, socket.bell.descriptor.number, readable: true)
      set.watch(1, socket.listening.descriptor.number, readable: true)
      _ = try? set.wait()
      if set.isReady(0) { return }
      guard let client = (try? UnixSocket.accept(from: socket.listening.descriptor)) ?? nil,
        let request = read(client)
      else { continue }
      ledger.withLock { $0.append(request) }
      send(answer(request, issuer).bytes, client)
    }
  }

  private func read(_ client: borrowing FileDescriptor) -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      if let request = Self.parse(bytes) { return request }
      var set = PollSet(count: 1)
      set.watch(0, client.number, readable: true)
      guard (try? set.wait(atMost: Patience.ceiling)) ?? 0 > 0 else { return nil }
      guard case .bytes(let count) = client.receive(into: &buffer) else { return nil }
      bytes += buffer[..<count]
    }
  }

  private func send(_ bytes: [UInt8], _ client: borrowing FileDescriptor) {
    var sent = 0
    while sent < bytes.count {
      switch client.send(bytes, sent..<bytes.count) {
      case .bytes(let count): sent += count
      case .wouldBlock:
        var set = PollSet(count: 1)
        set.watch(0, client.number, writable: true)
        guard (try? set.wait(atMost: Patience.ceiling)) ?? 0 > 0 else { return }
      default: return
      }
    }
  }

  /// The request, once it is complete.
  private static func parse(_ bytes: [UInt8]) -> Request? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")[...]
    let words = (lines.popFirst() ?? "").split(separator: " ").map(String.init)
    var request = Request()
    guard words.count == 3 else { return nil }
    (request.method, request.path) = (words[0], words[1])
    for line in lines {
      let halves = line.split(separator: ":", maxSplits: 1)
      request.fields[halves[0].lowercased()] = halves.count > 1 ? String(halves[1].drop { $0 == " " }) : ""
    }
    let body = bytes[end.upperBound...]
    guard body.count >= Int(request.fields["content-length"] ?? "0") ?? 0 else { return nil }
    request.body = String(decoding: body, as: UTF8.self)
    return request
  }
}
