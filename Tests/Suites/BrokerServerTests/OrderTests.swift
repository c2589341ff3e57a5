import BrokerCore
import BrokerServer
import TestSupport
import Testing

/// What a client sees first, and what it never sees.
@Suite(.standardTimeLimit) struct OrderTests {
  private static let login =
    #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"email":"a@example.test","password":"right"}}"#
  private static let subscribe = #"{"jsonrpc":"2.0","id":"s","method":"subscribe","params":{"since":0}}"#

  @Test func `a subscription in a batch gets no event before the batch is answered`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      _ = client.ask(Self.login)
      let lines = client.ask("[\(Self.subscribe),\(Self.login)]")
      #expect(lines.count == 3)
      #expect(lines.first?.hasPrefix("[") == true)
      #expect(lines.dropFirst().allSatisfy { $0.contains(#""event":"login""#) })
    }
  }

  @Test func `events that were missed are replayed, and a future since asks for a resync`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      _ = client.ask(Self.login)
      let lines = client.ask(Self.subscribe)
      #expect(lines.count == 2)
      #expect(lines.last?.contains(#""event":"login""#) == true)
      let future = client.ask(#"{"jsonrpc":"2.0","id":"s","method":"subscribe","params":{"since":999}}"#)
      #expect(future.count == 1)
      #expect(future.first?.contains(#""resync":true"#) == true)
    }
  }

  @Test func `a notification of a method runs it without an answer`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      _ = client.ask(Self.login)
      #expect(client.ask(#"{"jsonrpc":"2.0","method":"logout"}"#).isEmpty)
      let session = client.ask(#"{"jsonrpc":"2.0","id":1,"method":"getSession"}"#)
      #expect(session.first?.contains("signedOut") == true)
    }
  }

  @Test func `a client that asks for much and reads nothing holds a bounded amount, and still gets everything`()
    async throws
  {
    try await OwnThread.run {
      var limits = Limits()
      limits[.outputBytes] = 1 << 14
      let harness = try ServerHarness(limits: limits)
      let client = try harness.connect()
      let request = #"{"jsonrpc":"2.0","id":1,"method":"getStatus"}"# + "\n"
      let count = 2000
      client.send(String(repeating: request, count: count))
      var lines = client.lines()
      while case let more = client.lines(), !more.isEmpty { lines += more }
      #expect(lines.count == count)
    }
  }

  @Test func `draining ends a connection that only listens`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#)
      harness.server.assumeIsolated { $0.drain() }
      #expect(client.hasEnded)
      #expect(client.lines().contains { $0.contains("shuttingDown") })
      #expect(harness.stopFlag.isRaised)
    }
  }

  @Test func `whoever waits for a login is told when the server ends`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let wait = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"waitForLogin":true}}"#
      #expect(client.ask(wait).isEmpty)
      harness.server.assumeIsolated { $0.drain() }
      #expect(client.lines().contains { $0.contains(#""kind":"shuttingDown""#) })
      #expect(harness.stopFlag.isRaised)
    }
  }
}
