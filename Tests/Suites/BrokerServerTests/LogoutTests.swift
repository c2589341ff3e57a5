import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// Logouts: gone here at once, and told to the provider however long that takes.
@Suite(.standardTimeLimit) struct LogoutTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static func login(_ profile: String = "default") -> String {
    call("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#, 1)
  }

  private static let away = ProviderFailure.transient(.networkUnavailable)

  private static func outcomes(_ line: String?) -> [String] {
    (line ?? "").split(separator: #""serverRevoked":""#).dropFirst().map { String($0.prefix { $0 != "\"" }) }
  }

  private static func counter(_ name: String, _ client: TestClient) -> String? {
    client.ask(call("getStatus")).first?.split(separator: "\"\(name)\":").last.map { String($0.prefix { $0.isNumber }) }
  }

  @Test(
    arguments: [
      (nil, "yes"), (.unsupported, "unsupported"), (.refused(.providerRejected), "no"), (.tokenRefused, "no"),
      (.sessionEnded(.refreshRejected), "no"), (away, "pending"), (.outcomeUnknown(.timeout), "pending"),
    ] as [(ProviderFailure?, String)])
  func `the answer says what the provider said, and only what passes is kept`(
    _ failure: ProviderFailure?, _ outcome: String
  ) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.setRevocationFailure(failure)
      #expect(Self.outcomes(client.ask(Self.call("logout")).first) == [outcome])
      #expect(client.ask(Self.call("getSession")).first?.contains("signedOut") == true)
      #expect(harness.store.revocations.count == (outcome == "pending" ? 1 : 0))
      #expect(Self.counter("pendingRevocations", client) == (outcome == "pending" ? "1" : "0"))
    }
  }

  @Test func `the sign-out and what is still to be revoked are one transaction`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.setRevocationFailure(Self.away)
      _ = client.ask(Self.call("logout"))
      let commit = try #require(harness.store.commits.last)
      guard commit.count == 3, case .record(let record) = commit[0], case .openRevocation(let kept) = commit[1],
        case .event(let event) = commit[2]
      else {
        Issue.record("\(commit.count)")
        return
      }
      guard case .signedOut = record.contents else {
        Issue.record("the record is none of a logout")
        return
      }
      #expect(event.payload.name == .logout && kept.tokens == ScriptedProvider.tokens(1, now: harness.clock.now))
      #expect(kept.binding == harness.provider.binding && !kept.everywhere)
    }
  }

  @Test func `a provider that is away is told once it is back, by the same broker`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.setRevocationFailure(Self.away)
      _ = client.ask(Self.call("logout", #"{"everywhere":true}"#))
      for _ in 0..<4 {
        harness.clock.advance(by: .seconds(300))
        harness.settle()
      }
      let tries = harness.provider.revocations
      #expect(tries >= 5)
      harness.provider.setRevocationFailure(nil)
      harness.clock.advance(by: .seconds(300))
      harness.settle()
      #expect(harness.provider.revocationLedger.count == tries + 1 && harness.store.revocations.isEmpty)
      #expect(harness.provider.revocationLedger.allSatisfy { $0.token == "refresh-1" && $0.everywhere })
      harness.clock.advance(by: .seconds(90_000))
      harness.settle()
      #expect(harness.provider.revocations == tries + 1)
      #expect(Self.counter("revocations", client) == "1")
    }
  }

  @Test func `what is pending survives a restart, and goes on after it`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let before = try first.connect()
      _ = before.ask(Self.login())
      first.provider.setRevocationFailure(Self.away)
      #expect(Self.outcomes(before.ask(Self.call("logout")).first) == ["pending"])
      let second = try ServerHarness(store: store, clock: clock)
      #expect(second.provider.revocationLedger.map(\.token) == ["refresh-1"] && store.revocations.isEmpty)
      let third = try ServerHarness(store: store, clock: clock)
      #expect(third.provider.revocations == 0)
    }
  }

  @Test func `a crash before the provider answers loses nothing`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let before = try first.connect()
      _ = before.ask(Self.login())
      first.provider.hold()
      before.send(Self.call("logout") + "\n")
      #expect(before.lines().isEmpty && store.revocations.count == 1)
      let second = try ServerHarness(store: store, clock: clock)
      #expect(second.provider.revocations == 1 && store.revocations.isEmpty)
      #expect(try second.connect().ask(Self.call("getSession")).first?.contains("signedOut") == true)
    }
  }

  @Test func `a slow provider is not waited for longer than two seconds, and its answer still counts`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.hold()
      client.send(Self.call("logout") + "\n")
      #expect(client.lines().isEmpty)
      harness.clock.advance(by: .seconds(2))
      #expect(Self.outcomes(client.lines().first) == ["pending"])
      harness.provider.release()
      harness.settle()
      #expect(harness.store.revocations.isEmpty && harness.provider.revocations == 1)
    }
  }

  @Test func `nothing is sent to another provider, and it is kept for the old one until patience ends`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let before = try first.connect()
      _ = before.ask(Self.login())
      first.provider.setRevocationFailure(Self.away)
      _ = before.ask(Self.call("logout"))
      let other = try ServerHarness(store: store, clock: clock, providerType: "other")
      clock.advance(by: .seconds(3_600))
      other.settle()
      #expect(other.provider.revocations == 0 && store.revocations.count == 1)
      let gone = try ServerHarness(profiles: ["work"], store: store, clock: clock)
      #expect(gone.provider.revocations == 0 && store.revocations.count == 1)
      #expect(try Self.counter("pendingRevocations", gone.connect()) == "1")
      clock.advance(by: .seconds(86_400))
      gone.settle()
      #expect(gone.provider.revocations == 0 && store.revocations.isEmpty)
      #expect(gone.reports.all == [.revocationGivenUp(.default)])
      #expect(try Self.counter("revocationsGivenUp", gone.connect()) == "1")
    }
  }

  @Test func `every profile is logged out, and a dead provider delays no other`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["a", "b", "c"])
      let client = try harness.connect()
      for profile in ["a", "c"] { _ = client.ask(Self.login(profile)) }
      client.prove()
      harness.provider.hold()
      client.send(Self.call("logout", #"{"all":true}"#) + "\n")
      #expect(client.lines().isEmpty)
      // Both are under way at the same time.
      #expect(harness.provider.waitingCalls == 2)
      harness.clock.advance(by: .seconds(2))
      let answer = client.lines().first
      #expect(Self.outcomes(answer) == ["pending", "no", "pending"], "\(answer ?? "")")
      harness.provider.release()
      harness.settle()
      #expect(harness.provider.revocations == 2 && harness.store.revocations.isEmpty)
    }
  }

  @Test func `a logout of nothing says so, and one that is still pending says that`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      #expect(Self.outcomes(client.ask(Self.call("logout")).first) == ["no"])
      _ = client.ask(Self.login())
      harness.provider.setRevocationFailure(Self.away)
      #expect(Self.outcomes(client.ask(Self.call("logout")).first) == ["pending"])
      #expect(Self.outcomes(client.ask(Self.call("logout")).first) == ["pending"])
      #expect(harness.provider.revocations == 1)
    }
  }

  @Test func `what was to end everywhere ends only the old session once somebody has logged in again`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.setRevocationFailure(Self.away)
      _ = client.ask(Self.call("logout", #"{"everywhere":true}"#))
      _ = client.ask(Self.login())
      harness.provider.setRevocationFailure(nil)
      harness.clock.advance(by: .seconds(300))
      harness.settle()
      let ledger = harness.provider.revocationLedger
      #expect(ledger.first?.everywhere == true && ledger.last == .init(token: "refresh-1", everywhere: false))
      #expect(client.ask(Self.call("getSession")).first?.contains("authenticated") == true)
    }
  }

  @Test func `what is pending rests sealed while the vault is locked`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.setRevocationFailure(Self.away)
      _ = client.ask(Self.call("logout"))
      _ = client.ask(Self.call("lock"))
      harness.provider.setRevocationFailure(nil)
      harness.clock.advance(by: .seconds(3_600))
      harness.settle()
      #expect(harness.provider.revocations == 1 && harness.store.isLocked && harness.store.revocations.count == 1)
      #expect(Self.counter("pendingRevocations", client) == "0")
      _ = client.ask(Self.call("unlock"))
      #expect(harness.provider.revocations == 2 && harness.store.revocations.isEmpty)
    }
  }

  @Test func `a disk that is full keeps nobody logged in, and the revocation is kept when there is room`() async throws
  {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.setRevocationFailure(Self.away)
      harness.store.failure = .failed(context: "a full disk")
      #expect(client.ask(Self.call("logout")).first?.contains("storeFailed") == true)
      #expect(harness.provider.revocations == 1 && harness.store.revocations.isEmpty)
      harness.store.failure = nil
      harness.clock.advance(by: .seconds(30))
      harness.settle()
      #expect(harness.store.revocations.count == 1 && harness.store.records.first?.generation == 2)
    }
  }

  @Test func `the tokens of a login that a logout has overtaken are revoked, also after a restart`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let (client, other) = (try first.connect(), try first.connect())
      first.provider.setRevocationFailure(Self.away)
      first.provider.hold()
      client.send(Self.login() + "\n")
      _ = other.ask(Self.call("logout"))
      first.provider.release()
      #expect(client.lines().first?.contains("cancelled") == true)
      #expect(first.provider.revocationLedger.map(\.token) == ["refresh-1"] && store.revocations.count == 1)
      let second = try ServerHarness(store: store, clock: clock)
      #expect(second.provider.revocationLedger.map(\.token) == ["refresh-1"] && store.revocations.isEmpty)
    }
  }

  @Test func `a broker that ends begins nothing more, and leaves the rest to the next one`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let client = try first.connect()
      _ = client.ask(Self.login())
      first.provider.setRevocationFailure(Self.away)
      _ = client.ask(Self.call("logout"))
      #expect(first.broker.assumeIsolated { $0.isBusy && !$0.hasWork })
      first.server.assumeIsolated { $0.drain() }
      first.settle()
      #expect(first.stopFlag.isRaised)
      clock.advance(by: .seconds(600))
      first.settle()
      #expect(first.provider.revocations == 1 && store.revocations.count == 1)
    }
  }
}
