import BrokerCore
import BrokerServer
import TestSupport
import Testing

/// What one client can cost the others: nothing.
@Suite(.standardTimeLimit) struct LimitTests {
  private static let login =
    #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"email":"a@example.test","password":"right"}}"#
  private static let force = #"{"jsonrpc":"2.0","id":9,"method":"getAccessToken","params":{"forceRefresh":true}}"#

  @Test(arguments: [1, 64, 65, 100])
  func `requests beyond those that may be in flight wait unread, and all are answered`(
    _ count: Int
  ) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      client.send(String(repeating: Self.force + "\n", count: count))
      harness.settle()
      #expect(client.lines().isEmpty)
      #expect(harness.broker.assumeIsolated { $0.waitingCallerCount } == min(count, 64))
      #expect(harness.server.assumeIsolated { !$0.hasQueue }, "what waits for an answer takes no turns")
      harness.provider.release()
      var answers = client.lines()
      while case let more = client.lines(), !more.isEmpty { answers += more }
      #expect(answers.count == count && answers.allSatisfy { $0.contains("accessToken") })
    }
  }

  @Test func `requests of a batch beyond those in flight wait, and the batch is answered whole`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.requestsInFlight] = 3
      let harness = try ServerHarness(limits: limits)
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      client.send(Self.force + "\n[" + Array(repeating: Self.force, count: 7).joined(separator: ",") + "]\n")
      harness.settle()
      #expect(harness.broker.assumeIsolated { $0.waitingCallerCount } == 3)
      harness.provider.release()
      var answers = client.lines()
      while case let more = client.lines(), !more.isEmpty { answers += more }
      #expect(answers.count == 2 && !answers.contains { $0.contains("error") })
      #expect(answers.last?.components("accessToken").count == 7)
    }
  }

  @Test func `a client that goes away while its requests wait unread leaves nothing behind`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      client.send(String(repeating: Self.force + "\n", count: 100))
      harness.settle()
      client.close()
      harness.settle()
      #expect(harness.server.assumeIsolated { $0.connectionCount } == 0)
      harness.provider.release()
      harness.settle()
      #expect(harness.broker.assumeIsolated { $0.waitingCallerCount } == 0)
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
      #expect(harness.broker.assumeIsolated { $0.subscriptionCount(for: .broker) } == 0)
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
      #expect(harness.broker.assumeIsolated { $0.subscriptionCount(for: .broker) } == 0)
    }
  }

  @Test func `while the broker drains, further requests are told so, also those of new clients`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      client.send(Self.force + "\n")
      harness.settle()
      harness.server.assumeIsolated { $0.drain() }
      #expect(client.ask(#"{"jsonrpc":"2.0","id":10,"method":"ping"}"#).first?.contains("shuttingDown") == true)
      let late = try harness.connect()
      #expect(late.ask(Self.force).first?.contains("shuttingDown") == true)
      #expect(late.hasEnded)
      // One that says nothing keeps nobody.
      let quiet = try harness.connect()
      #expect(!harness.stopFlag.isRaised)
      harness.provider.release()
      #expect(client.lines().contains { $0.contains("access-2") })
      #expect(client.hasEnded && quiet.hasEnded)
      #expect(harness.stopFlag.isRaised)
    }
  }

  @Test func `a stop tells what it waits for, and another one ends that at once`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, owner) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.login)
      harness.provider.hold()
      client.send(Self.force + "\n")
      harness.settle()
      let stop = #"{"jsonrpc":"2.0","id":1,"method":"stopBroker"}"#
      #expect(owner.ask(stop).first?.contains(#""result":{"awaited":1,"longestWaitSeconds":25}"#) == true)
      #expect(!harness.stopFlag.isRaised)
      let second = try harness.connect()
      let now = #"{"jsonrpc":"2.0","id":1,"method":"stopBroker","params":{"now":true}}"#
      #expect(second.ask(now).contains { $0.contains(#""result":{}"#) })
      harness.settle()
      #expect(harness.stopFlag.isRaised)
      #expect(client.lines().contains { $0.contains("shuttingDown") })
      harness.provider.release()
      harness.settle()
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

extension String {
  /// The pieces of the text that begin with a word.
  fileprivate func components(_ word: String) -> [Substring] {
    var (pieces, rest) = ([Substring](), self[...])
    while let found = rest.firstRange(of: "\"" + word + "\":") {
      pieces.append(rest[found])
      rest = rest[found.upperBound...]
    }
    return pieces
  }
}
