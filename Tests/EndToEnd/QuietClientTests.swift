import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A client that says little, beside thirty that send the largest messages that are legal.
@Suite(.standardTimeLimit) struct QuietClientTests {
  private static let attackers = 30
  private static let ping = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8)

  /// One that sends messages without end, as fast as the broker takes them, and never waits for an answer.
  private final class Attacker {
    private let descriptor: FileDescriptor
    private let message: [UInt8]
    private var sent = 0
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private(set) var answers = 0

    init(_ path: String, _ message: [UInt8]) throws {
      descriptor = try UnixSocket.connect(to: path)
      try descriptor.setNonBlocking()
      self.message = message
    }

    /// Writes what the kernel takes, and reads what there is.
    func push() {
      let message = message
      while case .bytes(let count) = descriptor.send(message.span.extracting(sent...)) {
        sent = (sent + count) % message.count
      }
      while case .bytes(let count) = descriptor.read(into: &buffer) {
        answers += buffer[..<count].count { $0 == UInt8(ascii: "\n") }
      }
    }
  }

  /// How long each of many calls takes, in microseconds, sorted.
  private static func times(_ count: Int, _ wire: SocketWire, _ before: () -> Void) throws -> [Int64] {
    var times: [Int64] = []
    for _ in 0..<count {
      before()
      let start = BootClock.nanoseconds
      try wire.send(ping)
      _ = try wire.next()
      times.append((BootClock.nanoseconds - start) / 1000)
    }
    return times.sorted()
  }

  private static func percentile(_ times: [Int64], _ part: Int) -> Int64 { times[times.count * part / 100] }

  /// The largest legal messages, each as costly as its kind can be.
  private static let messages: [(name: String, params: String)] = {
    let accents = "e" + String(repeating: "\u{301}", count: 32_000)
    let escapes = String(repeating: #"\u00e9"#, count: 10_000)
    func members(_ text: String, _ count: Int) -> String {
      (0..<count).map { "\"m\($0)\":\"\(text)\"" }.joined(separator: ",")
    }
    let lists = Array(repeating: "[1.5e3,-7,null,{}]", count: 1000).joined(separator: ",")
    return [
      ("strings", members(String(repeating: "x", count: 65_000), 15)), ("accents", members(accents, 15)),
      ("escapes", members(escapes, 15)), ("names", (0..<15).map { "\"\(accents)\($0)\":0" }.joined(separator: ",")),
      ("values", "\"a\":[\(lists)]"),
    ]
  }()

  /// What one round with a kind of message comes to, in microseconds.
  private struct Round: CustomStringConvertible {
    let alone: Int64, one: Int64, p50: Int64, p99: Int64, answers: Int

    var isQuick: Bool { p99 <= max(5 * alone, 2 * one, 10_000) }
    var description: String {
      "alone p99 \(alone) µs, one message \(one) µs; beside thirty p50 \(p50), p99 \(p99), \(answers) answers"
    }
  }

  private static func round(_ message: [UInt8], _ quiet: SocketWire, _ socket: String) throws -> Round {
    func alone() throws -> Int64 { percentile(try times(300, quiet) {}, 99) }
    let before = try alone()
    // What one of these messages takes when nothing else is done: the broker cannot stop in the middle of one.
    let single = try SocketWire(socket)
    let start = BootClock.nanoseconds
    for _ in 0..<3 {
      try single.sendRaw(message)
      #expect(try single.nextNode()["result"] != nil)
    }
    let one = (BootClock.nanoseconds - start) / 3000
    var attackers = try (0..<attackers).map { _ in try Attacker(socket, message) }
    let beside = try times(60, quiet) { for attacker in attackers { attacker.push() } }
    let answers = attackers.reduce(0) { $0 + $1.answers }
    // They leave; and what else the machine does may begin or end meanwhile.
    attackers = []
    return Round(
      alone: max(before, try alone()), one: one, p50: percentile(beside, 50), p99: percentile(beside, 99),
      answers: answers)
  }

  @Test func `thirty clients with the largest legal messages do not keep a quiet one waiting`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let quiet = try SocketWire(sandbox.socket)
      _ = try Self.times(100, quiet) {}
      for (name, params) in Self.messages {
        let message = Array((#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{\#(params)}}"# + "\n").utf8)
        #expect(message.count <= 1 << 20)
        // A broker that keeps a client waiting does so each time; a busy machine does not.
        var rounds: [Round] = []
        repeat {
          rounds.append(try Self.round(message, quiet, sandbox.socket))
        } while !rounds[rounds.count - 1].isQuick
          && rounds.count < 4
        print("\(name): \(rounds[rounds.count - 1])")
        #expect(rounds[rounds.count - 1].isQuick, "\(name): \(rounds)")
      }
    }
  }
}
