import BrokerCore
import BrokerProtocol
import BrokerServer
import LinuxSystem
import TestSupport
import Testing

/// What messages and connections may cost: each limit is met exactly, has its error, and is counted.
@Suite(.standardTimeLimit) struct BudgetTests {
  private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
  private static let pong = #"{"jsonrpc":"2.0","id":1,"result":{}}"#

  private static func ping(with params: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"ping","params":\#(params)}"#
  }

  private static func object(_ count: Int) -> String {
    "{" + (0..<count).map { "\"m\($0)\":\($0)" }.joined(separator: ",") + "}"
  }

  private static func array(_ count: Int) -> String {
    #"{"a":["# + Array(repeating: "0", count: count).joined(separator: ",") + "]}"
  }

  private static func text(_ count: Int) -> String { #"{"a":""# + String(repeating: "x", count: count) + "\"}" }

  private static func number(_ count: Int) -> String { #"{"a":1."# + String(repeating: "0", count: count - 2) + "}" }

  struct Case: Sendable, CustomTestStringConvertible {
    let limit: Limit
    let kind: String
    let params: @Sendable (Int) -> String
    var testDescription: String { limit.row.name }
  }

  private static let structures = [
    Case(limit: .members, kind: "messageTooLarge", params: object),
    Case(limit: .elements, kind: "messageTooLarge", params: array),
    Case(limit: .stringBytes, kind: "messageTooLarge", params: text),
    Case(limit: .numberBytes, kind: "parseError", params: number),
  ]

  @Test(arguments: structures)
  func `a structure is accepted to its limit, and refused and counted beyond`(_ sample: Case) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let limit = sample.limit.row.standard
      for count in [limit - 1, limit] {
        #expect(client.ask(Self.ping(with: sample.params(count))) == [Self.pong], "\(count)")
      }
      let refusal = client.ask(Self.ping(with: sample.params(limit + 1))).first ?? ""
      #expect(refusal.contains("\"\(sample.kind)\"") && refusal.contains(sample.limit.row.name), "\(refusal)")
      #expect(client.ask(Self.ping) == [Self.pong])
      let status = client.ask(#"{"jsonrpc":"2.0","id":2,"method":"getStatus"}"#).first ?? ""
      let row = #""name":"\#(sample.limit.row.name)","scope":"message","value":\#(limit),"refused":1"#
      #expect(status.contains(row), "\(status)")
    }
  }

  @Test func `values in all have a limit`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.values] = 256
      let client = try ServerHarness(limits: limits).connect()
      func lists(_ count: Int) -> String {
        #"{"a":["# + Array(repeating: "[]", count: count).joined(separator: ",") + "]}"
      }
      // The message, three members with their values, the name of the params, they themselves, a name and its list.
      let others = 1 + 6 + 1 + 1 + 2
      #expect(client.ask(Self.ping(with: lists(256 - others))) == [Self.pong])
      #expect(client.ask(Self.ping(with: lists(257 - others))).first?.contains("messageTooLarge") == true)
    }
  }

  @Test func `a token of 64 KiB passes`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let token = String(repeating: "t", count: 65536)
      let answer = client.ask(
        #"{"jsonrpc":"2.0","id":1,"method":"reportRejected","params":{"accessToken":"\#(token)"}}"#)
      #expect(answer.first?.contains("messageTooLarge") == false)
    }
  }

  @Test func `a message that does not end closes its connection, and no silence between messages does`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.incompleteMessage] = 20
      let harness = try ServerHarness(limits: limits)
      let (silent, slow) = (try harness.connect(), try harness.connect())
      for client in [silent, slow] { #expect(client.ask(Self.ping) == [Self.pong]) }
      slow.send(String(Self.ping.dropLast(3)))
      var isOpen = true
      #expect(
        Patience.wait {
          isOpen = slow.read()
          return !isOpen
        })
      #expect(String(decoding: slow.received, as: UTF8.self).contains(#""kind":"deadlineExceeded""#))
      #expect(silent.ask(Self.ping) == [Self.pong])
      #expect(harness.broker.ledger.refused(.incompleteMessage) == 1)
      #expect(harness.server.assumeIsolated { $0.connectionCount } == 1)
    }
  }

  @Test func `half messages of all together are bounded, and the greatest are closed`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.bufferedBytes] = 1 << 20
      // By the real clock: on a busy machine this test takes longer than a message may.
      limits[.incompleteMessage] = 3_600_000
      let harness = try ServerHarness(limits: limits)
      let ledger = harness.broker.ledger
      let small = try harness.connect()
      small.send(String(Self.ping.dropLast(3)))
      var clients: [TestClient] = []
      for _ in 0..<20 {
        let client = try harness.connect()
        client.send("{\"a\":\"" + String(repeating: "x", count: 120_000))
        clients.append(client)
        #expect(ledger.used(.bufferedBytes) <= limits[.bufferedBytes])
      }
      let open = clients.openCount(behind: ledger.refused(.bufferedBytes))
      #expect(open > 1 && open < 15 && ledger.refused(.bufferedBytes) == 20 - open, "\(open)")
      #expect(small.ask(String(Self.ping.suffix(3))) == [Self.pong])
      for client in clients { client.close() }
      #expect(ledger.used(.bufferedBytes) == 0)
    }
  }

  @Test func `answers that nobody reads are bounded over all`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.bufferedBytes] = 4 << 20
      limits[.stalledOutput] = 3_600_000
      let document = Array(("\"" + String(repeating: "d", count: 100_000) + "\"").utf8)
      let harness = try ServerHarness(limits: limits, document: document)
      let discover = String(repeating: #"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"# + "\n", count: 30)
      var clients: [TestClient] = []
      for _ in 0..<10 {
        let client = try harness.connect()
        client.send(discover)
        clients.append(client)
        #expect(harness.broker.ledger.used(.bufferedBytes) <= limits[.bufferedBytes])
      }
      #expect(harness.broker.ledger.refused(.bufferedBytes) >= 7)
      #expect(try harness.connect().ask(Self.ping) == [Self.pong])
    }
  }

  @Test func `answers that wait in batches are the connection's own`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.outputBytes] = 65536
      let document = Array(("\"" + String(repeating: "d", count: 40_000) + "\"").utf8)
      let harness = try ServerHarness(limits: limits, profiles: ["default", "other"], document: document)
      let client = try harness.connect()
      let wait =
        #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"profile":"other","waitForLogin":true}}"#
      let discover = #"{"jsonrpc":"2.0","id":2,"method":"rpc.discover"}"#
      for _ in 0..<2 { #expect(client.ask("[\(wait),\(discover)]").isEmpty) }
      #expect(client.ask(discover).first?.contains("overloaded") == true)
      #expect(harness.broker.ledger.used(.bufferedBytes) >= 80_000)
      client.close()
      #expect(harness.broker.ledger.used(.bufferedBytes) == 0)
    }
  }

  @Test func `the lock closes the connections that have not read a token, and no other`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, stalled, other) = (try harness.connect(), try harness.connect(), try harness.connect())
      _ = client.ask(
        #"{"jsonrpc":"2.0","id":1,"method":"login","params":{"email":"a@example.test","password":"right"}}"#)
      let token = Array((#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken"}"# + "\n").utf8)
      while harness.server.assumeIsolated({ $0.queuedBytes }) == 0 {
        _ = stalled.push(token)
        harness.settle()
      }
      #expect(other.ask(Self.ping) == [Self.pong])
      #expect(client.ask(#"{"jsonrpc":"2.0","id":9,"method":"lock"}"#) == [#"{"jsonrpc":"2.0","id":9,"result":{}}"#])
      #expect(harness.server.assumeIsolated { $0.queuedBytes } == 0)
      #expect(harness.server.assumeIsolated { $0.connectionCount } == 2)
      #expect(other.ask(Self.ping) == [Self.pong])
      #expect(stalled.hasEnded)
    }
  }
}
