import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// How long sessions live, with the broker, its cache of answers and its store.
@Suite(.standardTimeLimit) struct SessionLifeTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let login = call("login", #"{"email":"a@example.test","password":"right"}"#, 1)
  private static let token = call("getAccessToken")
  private static let force = call("getAccessToken", #"{"forceRefresh":true}"#)
  private static let session = call("getSession")

  /// The last use that rests in the store.
  private static func storedUse(_ store: InMemoryStore) -> Timestamp? {
    guard case .living(let session)? = store.records.first?.contents else { return nil }
    return session.lastUsedAt
  }

  @Test func `a session that is used from the cache alone goes on, and ends in time when nobody uses it`() async throws
  {
    try await OwnThread.run {
      let rules = SessionRules(
        expiry: ExpiryPolicy(refreshesInBackground: false), idleTimeout: .seconds(300))
      let harness = try ServerHarness(rules: rules)
      let client = try harness.connect()
      _ = client.ask(Self.login)
      for _ in 0..<4 {
        for _ in 0..<5 { #expect(client.ask(Self.token).first?.contains("access-1") == true) }
        harness.clock.advance(by: .seconds(200))
        harness.settle()
      }
      #expect(client.ask(Self.session).first?.contains(#""idleExpiresAt":"2027-01-15T08:1"#) == true)
      // The cache never answers past the end, even before the broker's timer has come.
      harness.clock.advance(by: .seconds(100))
      #expect(client.ask(Self.token).first?.contains("sessionExpired") == true)
      #expect(client.ask(Self.session).first?.contains(#""loginRequiredReason":"idleTimeout""#) == true)
      #expect(harness.provider.revocations == 1)
    }
  }

  @Test func `the last use outlives the broker`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let rules = SessionRules(idleTimeout: .seconds(300))
      let first = try ServerHarness(store: store, clock: clock, rules: rules)
      let client = try first.connect()
      _ = client.ask(Self.login)
      for _ in 0..<10 {
        clock.advance(by: .seconds(25))
        _ = client.ask(Self.token)
      }
      clock.advance(by: .zero)
      first.settle()
      let lastUse = try #require(Self.storedUse(store))
      #expect(clock.now - lastUse <= .seconds(30))
      clock.advance(by: .seconds(270))
      let second = try ServerHarness(store: store, clock: clock, rules: rules)
      #expect(try second.connect().ask(Self.session).first?.contains("idleExpiresAt") == true)
      clock.advance(by: .seconds(30))
      let third = try ServerHarness(store: store, clock: clock, rules: rules)
      #expect(try third.connect().ask(Self.session).first?.contains(#""loginRequiredReason":"idleTimeout""#) == true)
    }
  }

  @Test func `the client that a login has found is told with its issuer, and one of the configuration is not`()
    async throws
  {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      let plain = client.ask(Self.session).first ?? ""
      #expect(plain.contains("authenticated") && !plain.contains("clientId") && !plain.contains("issuer"), "\(plain)")
      let found = TokenClient(issuer: "https://as.example", id: "made-1", resource: "https://rs.example/mcp")
      harness.provider.setClient(found)
      _ = client.ask(Self.login)
      let told = client.ask(Self.session).first ?? ""
      #expect(told.contains(#""issuer":"https://as.example","clientId":"made-1""#), "\(told)")
    }
  }

  @Test func `the end for want of use and what is still to be revoked are one transaction`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(rules: SessionRules(idleTimeout: .seconds(300)))
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.setRevocationFailure(.transient(.networkUnavailable))
      harness.clock.advance(by: .seconds(301))
      harness.settle()
      let commit = try #require(
        harness.store.commits.first { steps in
          steps.contains { step in
            guard case .record(let record) = step, case .ended = record.contents else { return false }
            return true
          }
        })
      guard commit.count == 3, case .openRevocation(let kept) = commit[1], case .event = commit[2] else {
        Issue.record("\(commit.count)")
        return
      }
      #expect(kept.tokens == ScriptedProvider.tokens(1, now: harness.clock.now + .seconds(-301)))
    }
  }

  @Test func `where there is no idle timeout nothing is written for a use`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      let saves = harness.store.saveCount
      for _ in 0..<10 {
        _ = client.ask(Self.token)
        harness.clock.advance(by: .seconds(60))
        harness.settle()
      }
      #expect(harness.store.saveCount == saves)
      #expect(client.ask(Self.session).first?.contains("idleExpiresAt") == false)
    }
  }

  @Test func `a provider that wants to see the user is said so until somebody logs in, restarts or not`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let client = try first.connect()
      _ = client.ask(Self.login)
      first.provider.setRefresh(.fails(.reauthenticationRequired))
      #expect(client.ask(Self.force).first?.contains(#""code":1005"#) == true)
      let second = try ServerHarness(store: store, clock: clock)
      let later = try second.connect()
      #expect(later.ask(Self.token).first?.contains(#""kind":"reauthRequired""#) == true)
      let session = later.ask(Self.session).first
      #expect(session?.contains(#""state":"expired""#) == true)
      #expect(session?.contains(#""loginRequiredReason":"reauthRequired""#) == true)
      _ = later.ask(Self.login)
      #expect(later.ask(Self.token).first?.contains("accessToken") == true)
      #expect(later.ask(Self.session).first?.contains("loginRequiredReason") == false)
    }
  }

  @Test func `what was learnt of a provider's rotating outlives the broker`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let client = try first.connect()
      _ = client.ask(Self.login)
      first.provider.setRefresh(.keepsRefreshToken)
      for _ in 0..<3 { _ = client.ask(Self.force) }
      let second = try ServerHarness(store: store, clock: clock)
      let later = try second.connect()
      let commits = store.commits.count
      second.provider.setRefresh(.fails(.outcomeUnknown(.timeout)))
      #expect(later.ask(Self.force).first?.contains(#""kind":"timeout""#) == true)
      let wrote = store.commits.dropFirst(commits).flatMap { $0 }
      #expect(
        wrote.contains {
          if case .openIntent = $0 { return true }
          return false
        }, "the provider may just have begun to rotate")
    }
  }

  @Test func `after a crash a token is replayed once inside its grace`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let rules = SessionRules(rotationGrace: .seconds(60))
      let first = try ServerHarness(store: store, clock: clock, rules: rules)
      let client = try first.connect()
      _ = client.ask(Self.login)
      first.provider.hold()
      #expect(client.ask(Self.force).isEmpty)
      clock.advance(by: .seconds(30))
      let second = try ServerHarness(store: store, clock: clock, rules: rules)
      #expect(second.provider.spentTokens == ["refresh-1"])
      #expect(store.intents.isEmpty)
      #expect(try second.connect().ask(Self.session).first?.contains("lastRefreshAt") == true)
    }
  }

  @Test func `whoever wants a new token, for whatever reason, waits for one flight that nobody can stop`() async throws
  {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, other) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.login)
      _ = client.ask(Self.token)
      harness.provider.hold()
      // The background refresh begins it.
      harness.clock.advance(by: .seconds(880))
      harness.settle()
      client.send(Self.token + "\n" + Self.call("getAccessToken", #"{"forceRefresh":true}"#, 2) + "\n")
      client.send(Self.call("reportRejected", #"{"accessToken":"access-1"}"#, 3) + "\n")
      client.send(Self.call("getAccessToken", #"{"forceRefresh":true}"#, 4) + "\n")
      client.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4}}"# + "\n")
      other.send(Self.force + "\n")
      other.close()
      #expect(client.lines().filter { $0.contains("-32800") }.count == 1)
      harness.provider.release()
      #expect(client.lines().filter { $0.contains("access-2") }.count == 3)
      #expect(harness.provider.spentTokens == ["refresh-1"])
    }
  }

  @Test func `tokens that come after a logout are given back`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      _ = client.ask(Self.force)
      _ = client.ask(Self.call("logout", "{}", 10))
      harness.provider.release()
      harness.settle()
      // Those of the session, and those that nobody has seen.
      #expect(harness.provider.revocations == 2)
      #expect(client.ask(Self.session).last?.contains("signedOut") == true)
    }
  }

  @Test func `what nobody uses is left alone, and a use from the cache takes it up again`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(rules: SessionRules(keepAlive: .seconds(3600)))
      let client = try harness.connect()
      _ = client.ask(Self.login)
      _ = client.ask(Self.token)
      for _ in 0..<30 {
        harness.clock.advance(by: .seconds(300))
        harness.settle()
      }
      let spent = harness.provider.spentTokens.count
      #expect((3...6).contains(spent))
      #expect(client.ask(Self.session).first?.contains(#""state":"authenticated""#) == true)
      #expect(client.ask(Self.token).first?.contains("access-") == true)
      #expect(harness.provider.spentTokens.count == spent + 1)
      harness.clock.advance(by: .seconds(800))
      harness.settle()
      #expect(harness.provider.spentTokens.count == spent + 2)
    }
  }

  @Test func `a clock that is set back does not make the cache answer with an ended token`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(rules: SessionRules(expiry: ExpiryPolicy(refreshesInBackground: false)))
      let client = try harness.connect()
      _ = client.ask(Self.login)
      #expect(client.ask(Self.token).first?.contains("access-1") == true)
      harness.clock.setWall(by: .seconds(-5000))
      harness.clock.advance(by: .seconds(880))
      #expect(client.ask(Self.token).first?.contains("access-2") == true)
    }
  }

  @Test func `a token lives for as long as before when a clock is set far forward, and so it is told`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      _ = client.ask(Self.token)
      harness.clock.set(by: .seconds(10_000_000))
      harness.settle()
      let answer = client.ask(Self.token).first ?? ""
      #expect(answer.contains("access-1") && answer.contains(#""expiresAt":"2027-05-11T"#), "\(answer)")
      #expect(harness.provider.spentTokens.isEmpty)
      harness.clock.advance(by: .seconds(880))
      harness.settle()
      #expect(client.ask(Self.token).first?.contains("access-2") == true)
      #expect(harness.provider.spentTokens == ["refresh-1"])
    }
  }
}
