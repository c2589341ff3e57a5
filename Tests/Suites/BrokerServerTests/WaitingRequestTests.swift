import BrokerCore
import BrokerServer
import TestSupport
import Testing

/// What requests that wait may cost all clients together, and who pays where that is too much.
@Suite(.standardTimeLimit) struct WaitingRequestTests {
  private static let ping = #"{"jsonrpc":"2.0","id":0,"method":"ping"}"#
  private static let pong = #"{"jsonrpc":"2.0","id":0,"result":{}}"#

  /// A request that waits until a user logs in to the profile `other`, which never happens.
  private static func wait(_ id: String, padding: Int = 0) -> String {
    let padding = String(repeating: "x", count: padding)
    let params = #"{"profile":"other","waitForLogin":true,"padding":"\#(padding)"}"#
    return #"{"jsonrpc":"2.0","id":\#(id),"method":"getAccessToken","params":\#(params)}"#
  }

  private static func harness(_ limit: Limit, _ value: Int) throws -> ServerHarness {
    var limits = ServerHarness.patientLimits
    limits[limit] = value
    return try ServerHarness(limits: limits, profiles: ["default", "other"])
  }

  private static func isRefusal(_ line: String?, _ id: String) -> Bool {
    guard let line else { return false }
    return line.contains(#""id":\#(id),"#) && line.contains("The limit maxWaitingRequests (")
      && line.contains(#""kind":"overloaded""#)
  }

  @Test func `parameters of waiting requests are bounded over all, and the greatest are closed`() async throws {
    try await OwnThread.run {
      let harness = try Self.harness(.bufferedBytes, 1 << 20)
      let ledger = harness.broker.ledger
      let small = try harness.connect()
      #expect(small.ask(Self.wait("1")).isEmpty)
      var clients: [TestClient] = []
      for _ in 0..<20 {
        let client = try harness.connect()
        for id in 1...4 { client.send(Self.wait("\(id)", padding: 30_000) + "\n") }
        clients.append(client)
        #expect(ledger.used(.bufferedBytes) <= 1 << 20)
      }
      let open = clients.openCount(behind: ledger.refused(.bufferedBytes))
      #expect(open > 4 && open < 9 && ledger.refused(.bufferedBytes) == 20 - open, "\(open)")
      #expect(small.ask(Self.ping) == [Self.pong])
      for client in clients + [small] { client.close() }
      #expect(ledger.used(.bufferedBytes) == 0 && ledger.used(.waitingRequests) == 0)
    }
  }

  @Test func `ids of waiting requests count as their parameters do, until the answer`() async throws {
    try await OwnThread.run {
      let harness = try Self.harness(.idBytes, 4096)
      let ledger = harness.broker.ledger
      let client = try harness.connect()
      let id = "\"" + String(repeating: "i", count: 4000) + "\""
      #expect(client.ask(Self.wait(id)).isEmpty && ledger.used(.bufferedBytes) >= 4000)
      let cancelling = #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#
      #expect(client.ask(cancelling).first?.contains("cancelled") == true)
      #expect(ledger.used(.bufferedBytes) == 0 && ledger.used(.waitingRequests) == 0)
    }
  }

  @Test func `past the limit of all, a connection with its share is refused, and one with less is served`() async throws
  {
    try await OwnThread.run {
      let harness = try Self.harness(.waitingRequests, 4)
      let (greedy, modest) = (try harness.connect(), try harness.connect())
      for id in 1...4 { #expect(greedy.ask(Self.wait("\(id)")).isEmpty) }
      #expect(Self.isRefusal(greedy.ask(Self.wait("5")).first, "5"))
      // What is answered at once takes no one's place.
      #expect(modest.ask(Self.ping) == [Self.pong] && greedy.lines().isEmpty)
      #expect(modest.ask(Self.wait("6")).isEmpty)
      let refused = greedy.lines()
      #expect(refused.count == 1 && Self.isRefusal(refused.first, "4"), "\(refused)")
      #expect(harness.broker.ledger.used(.waitingRequests) == 4)
      #expect(harness.broker.ledger.refused(.waitingRequests) == 2)
      #expect(modest.ask(Self.wait("7")).isEmpty && Self.isRefusal(greedy.lines().first, "3"))
      #expect(Self.isRefusal(modest.ask(Self.wait("8")).first, "8"))
      greedy.close()
      #expect(modest.ask(Self.wait("9")).isEmpty)
    }
  }

  @Test func `a login under way makes no room`() async throws {
    try await OwnThread.run {
      let harness = try Self.harness(.waitingRequests, 2)
      let (greedy, modest) = (try harness.connect(), try harness.connect())
      harness.provider.hold()
      for password in ["one", "two"] {
        let params = #"{"email":"a@example.test","password":"\#(password)"}"#
        #expect(greedy.ask(#"{"jsonrpc":"2.0","id":1,"method":"login","params":\#(params)}"#).isEmpty)
      }
      #expect(Self.isRefusal(modest.ask(Self.wait("2")).first, "2"))
      harness.provider.release()
      harness.settle()
      #expect(greedy.lines().count == 2)
    }
  }

  @Test func `where three subscriptions are allowed in all, each connection still has its first`() async throws {
    try await OwnThread.run {
      let harness = try Self.harness(.allSubscriptions, 3)
      let ledger = harness.broker.ledger
      let (greedy, modest) = (try harness.connect(), try harness.connect())
      let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#
      for _ in 0..<3 { #expect(greedy.ask(subscribe).first?.contains("subscriptionId") == true) }
      #expect(greedy.ask(subscribe).first?.contains("The limit maxSubscriptions (3) is exceeded.") == true)
      #expect(modest.ask(subscribe).first?.contains("subscriptionId") == true)
      #expect(modest.ask(subscribe).first?.contains("overloaded") == true)
      #expect(ledger.used(.allSubscriptions) == 4 && ledger.refused(.allSubscriptions) == 2)
      greedy.close()
      #expect(ledger.used(.allSubscriptions) == 1)
      let end = #"{"jsonrpc":"2.0","id":1,"method":"unsubscribe","params":{"subscriptionId":"s1"}}"#
      #expect(modest.ask(end).first?.contains("result") == true && ledger.used(.allSubscriptions) == 0)
    }
  }
}
