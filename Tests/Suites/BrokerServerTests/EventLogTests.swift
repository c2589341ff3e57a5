import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// Events: durable before they are told, in order, and there again after a restart.
@Suite(.standardTimeLimit) struct EventLogTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static func login(_ password: String = "right") -> String {
    call("login", #"{"email":"a@example.test","password":"\#(password)"}"#, 1)
  }

  private static func sequence(_ line: String) throws -> Int {
    let rest = try #require(line.split(separator: #""sequence":"#).last)
    return try #require(Int(rest.prefix { $0.isNumber }))
  }

  @Test func `nothing is told before it is durable, and nothing out of order`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (watcher, client) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.login())
      _ = watcher.ask(Self.call("subscribe"))
      harness.store.hold()
      client.send(Self.login("wrong") + "\n")
      while harness.broker.assumeIsolated({ $0.counters.loginFailures }) == 0 { harness.settle() }
      client.send(Self.call("reportRejected", #"{"tokenId":"id-1","status":403}"#) + "\n")
      #expect(watcher.lines().isEmpty)
      harness.store.release()
      let events = watcher.lines()
      // After a 403 the provider is asked who the user is.
      let names = ["loginFailed", "forbidden", "userUpdated"]
      #expect(events.count == 3 && zip(events, names).allSatisfy { $0.contains($1) }, "\(events)")
      #expect(try events.map(Self.sequence) == events.map(Self.sequence).sorted())
    }
  }

  @Test func `a login and its event are one transaction`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      _ = try harness.connect().ask(Self.login())
      let commit = try #require(harness.store.commits.first)
      guard commit.count == 2, case .record = commit[0], case .event(let event) = commit[1] else {
        Issue.record("\(commit.count)")
        return
      }
      #expect(event.payload.name == .login)
    }
  }

  @Test func `a refused login's event is in no commit, and a lone event on a full disk is marked as missing`()
    async throws
  {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (watcher, client) = (try harness.connect(), try harness.connect())
      _ = watcher.ask(Self.call("subscribe"))
      harness.store.failure = .failed(context: "a full disk")
      _ = client.ask(Self.login())
      #expect(watcher.lines().isEmpty)
      _ = client.ask(Self.login("wrong"))
      let told = watcher.lines()
      #expect(told.count == 1 && told.first?.contains("loginFailed") == true)
      harness.store.failure = nil
      _ = client.ask(Self.login())
      #expect(try harness.store.eventsCompleteAfter == UInt64(Self.sequence(try #require(told.first))))
      #expect(harness.store.events.map(\.payload.name) == [.login])
    }
  }

  @Test func `since works across a restart, without a gap and without repeating anything`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let before = try first.connect()
      for _ in 0..<20 { _ = before.ask(Self.login()) }
      let harness = try ServerHarness(store: store, clock: clock)
      let (watcher, client) = (try harness.connect(), try harness.connect())
      store.hold()
      watcher.send(Self.call("subscribe", #"{"since":5}"#) + "\n")
      client.send(Self.login("wrong") + "\n")
      #expect(watcher.lines().isEmpty)
      store.release()
      _ = client.lines()
      let lines = watcher.lines()
      #expect(lines.first?.contains(#""subscriptionId":"s1""#) == true)
      #expect(lines.first?.contains("resync") == false)
      let sequences = try lines.dropFirst().map(Self.sequence)
      #expect(Array(sequences.prefix(15)) == Array(6...20))
      #expect(sequences.count == 16 && Set(sequences).count == 16)
    }
  }

  @Test func `what the store lacks, or cannot give, asks for a resync`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let before = try first.connect()
      store.failure = .failed(context: "a full disk")
      for _ in 0..<3 { _ = before.ask(Self.login("wrong")) }
      store.failure = nil
      for _ in 0..<3 { _ = before.ask(Self.login()) }
      let harness = try ServerHarness(store: store, clock: clock)
      let client = try harness.connect()
      let lost = store.eventsCompleteAfter
      let early = client.ask(Self.call("subscribe", #"{"since":\#(lost - 1)}"#))
      #expect(early.count == 1 && early.first?.contains(#""resync":true"#) == true)
      let late = client.ask(Self.call("subscribe", #"{"since":\#(lost)}"#))
      #expect(late.count == 4 && late.first?.contains("resync") == false)
      store.eventsFailure = .tampered(profile: nil)
      let tampered = client.ask(Self.call("subscribe", #"{"since":\#(lost)}"#))
      #expect(tampered.contains { $0.contains(#""resync":true"#) })
      #expect(tampered.contains { $0.contains("storeTampering") && !$0.contains("profile\":\"default\",\"time") })
      #expect(client.ask(Self.call("subscribe", #"{"since":\#(lost)}"#)).count == 1)
      #expect(harness.reports.all == [.storeTampered(nil)])
    }
  }

  @Test func `what the store drops while the broker runs asks for a resync at once`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let before = try first.connect()
      for _ in 0..<5 { _ = before.ask(Self.login()) }
      let harness = try ServerHarness(store: store, clock: clock)
      let client = try harness.connect()
      #expect(client.ask(Self.call("subscribe", #"{"since":1}"#)).count == 5)
      store.dropEvents(through: 3)
      let late = client.ask(Self.call("subscribe", #"{"since":1}"#))
      #expect(late.count == 1 && late.first?.contains(#""resync":true"#) == true)
      #expect(client.ask(Self.call("subscribe", #"{"since":3}"#)).count == 3)
    }
  }

  @Test func `whoever goes away while old events are read leaves no subscription`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      _ = try first.connect().ask(Self.login())
      let harness = try ServerHarness(store: store, clock: clock)
      let (gone, cancelled) = (try harness.connect(), try harness.connect())
      store.hold()
      gone.send(Self.call("subscribe", #"{"since":0}"#) + "\n")
      cancelled.send(Self.call("subscribe", #"{"since":0}"#) + "\n")
      #expect(cancelled.ask(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#).count == 1)
      gone.close()
      store.release()
      harness.settle()
      #expect(harness.broker.assumeIsolated { $0.subscriptionCount(for: .broker) } == 0)
      #expect(cancelled.lines().isEmpty)
    }
  }

  @Test func `a provider whose key is none of the pinned ones is told of once a profile and minute`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (watcher, client) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.login())
      _ = watcher.ask(Self.call("subscribe", #"{"events":["securityAlert"]}"#))
      harness.provider.setRefresh(.fails(.transient(.tlsPinMismatch)))
      harness.provider.setAccountFailure(.transient(.tlsPinMismatch))
      for _ in 0..<3 {
        _ = client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#))
        _ = client.ask(Self.call("getCurrentUser", #"{"maxAgeSeconds":0}"#))
        _ = client.ask(Self.call("forgotPassword", #"{"email":"a@example.test"}"#))
      }
      let alerts = watcher.lines()
      #expect(alerts.count == 1 && alerts.first?.contains(#""kind":"pinMismatch""#) == true)
      harness.clock.advance(by: .seconds(61))
      _ = client.ask(Self.call("forgotPassword", #"{"email":"a@example.test"}"#))
      #expect(watcher.lines().count == 1)
      #expect(harness.store.events.filter { $0.payload.name == .securityAlert }.count == 2)
    }
  }

  @Test func `a store that is not what was written any more is told of once, and nothing is taken for saved`()
    async throws
  {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (watcher, client) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.login())
      _ = watcher.ask(Self.call("subscribe", #"{"events":["securityAlert"]}"#))
      harness.store.failure = .tampered(profile: nil)
      _ = client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#))
      #expect(client.ask(Self.login()).first?.contains("storeFailed") == true)
      let alerts = watcher.lines()
      #expect(alerts.count == 1 && alerts.first?.contains(#""kind":"storeTampering""#) == true)
      #expect(harness.reports.all == [.storeTampered(nil), .notSaved(.default)])
    }
  }
}
