import BrokerCore
import BrokerServer
import TestSupport
import Testing

/// What one client can cost the others: nothing.
@Suite(.standardTimeLimit) struct LimitTests {
  private static let login =
    #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"email":"a@example.test","password":"right"}}"#
  private static let force = #"{"jsonrpc":"2.0","id":9,"method":"getAccessToken","params":{"forceRefresh":true}}"#

  @Test func `the request beyond those in flight is told that there are too many`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      for _ in 0..<64 { #expect(client.ask(Self.force).isEmpty) }
      #expect(client.ask(Self.force).first?.contains("overloaded") == true)
      harness.provider.release()
      #expect(client.lines().count == 64)
      #expect(harness.provider.spentTokens.count == 1)
    }
  }

  @Test func `the subscription beyond the limit is refused`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#
      for _ in 0..<32 { #expect(client.ask(subscribe).first?.contains("subscriptionId") == true) }
      #expect(client.ask(subscribe).first?.contains("overloaded") == true)
    }
  }

  @Test func `a batch beyond the limit is refused whole`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
      let fits = client.ask("[" + Array(repeating: ping, count: 64).joined(separator: ",") + "]")
      #expect(fits.first?.contains("error") == false)
      let tooMany = client.ask("[" + Array(repeating: ping, count: 65).joined(separator: ",") + "]")
      #expect(tooMany.first?.contains("-32600") == true)
    }
  }

  @Test func `a client that reads nothing delays nobody, and learns what it lost`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.outputBytes] = 1 << 16
      // By the real clock: instrumented, this test takes longer than a connection may stand still.
      limits[.stalledOutput] = 3_600_000
      let harness = try ServerHarness(limits: limits)
      let (slow, client) = (try harness.connect(), try harness.connect())
      slow.send(#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"# + "\n")
      var most = 0
      for _ in 0..<3000 {
        // Logins have a rate.
        harness.clock.advance(by: .seconds(10))
        #expect(client.ask(Self.login).first?.contains("authenticated") == true)
        most = max(most, harness.server.assumeIsolated { $0.queuedBytes })
      }
      // Beyond the bound there is room for the event that passed it.
      #expect(most > limits[.outputBytes] && most < limits[.outputBytes] + 1024, "\(most)")
      #expect(client.ask(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).count == 1)
      var lines = slow.lines()
      while case let more = slow.lines(), !more.isEmpty { lines += more }
      #expect(lines.count < 3000)
      #expect(lines.last?.contains(#""event":"eventsLost""#) == true, "\(lines.last ?? "")")
    }
  }

  @Test func `a client that reads nothing for too long is closed, and the others are served`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      // By the real clock: as short as can be, since it is waited for.
      limits[.stalledOutput] = 20
      let harness = try ServerHarness(limits: limits)
      let (stalled, client) = (try harness.connect(), try harness.connect())
      stalled.send(#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"# + "\n")
      // Events fill the socket's buffer, and the next one stays with the server.
      #expect(
        Patience.wait {
          harness.clock.advance(by: .seconds(10))
          _ = client.ask(Self.login)
          return harness.server.assumeIsolated { $0.queuedBytes > 0 || $0.connectionCount == 1 }
        })
      #expect(
        Patience.wait {
          harness.settle()
          return harness.server.assumeIsolated { $0.connectionCount } == 1
        })
      #expect(harness.broker.assumeIsolated { $0.subscriptionCount } == 0)
      #expect(client.ask(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).count == 1)
    }
  }

  @Test func `a connection that goes away in the middle of everything leaves nothing behind`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      client.send(Self.force + "\n" + #"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"# + "\n{\"jsonrpc\"")
      client.close()
      harness.provider.release()
      harness.settle()
      #expect(harness.server.assumeIsolated { $0.connectionCount } == 0)
      #expect(harness.broker.assumeIsolated { $0.subscriptionCount } == 0)
    }
  }

  @Test func `draining answers what is in flight and then closes`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      client.send(Self.force + "\n")
      harness.server.assumeIsolated { $0.drain() }
      #expect(!harness.stopFlag.isRaised)
      harness.provider.release()
      #expect(client.hasEnded)
      #expect(client.lines().contains { $0.contains("access-2") })
      #expect(harness.stopFlag.isRaised)
    }
  }
}
