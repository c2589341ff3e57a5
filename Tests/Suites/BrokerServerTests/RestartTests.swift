import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// What a broker takes up after another one has ended, however that ended.
@Suite(.standardTimeLimit) struct RestartTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let login = call("login", #"{"email":"a@example.test","password":"right"}"#, 1)
  private static let force = call("getAccessToken", #"{"forceRefresh":true}"#)

  private static func harnesses(_ count: Int) throws -> (InMemoryStore, ManualClock, () throws -> ServerHarness) {
    let (store, clock) = (InMemoryStore(), ManualClock())
    return (store, clock, { try ServerHarness(store: store, clock: clock) })
  }

  @Test func `a refresh is written down before it is sent, and its intent is gone with its success`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      #expect(client.ask(Self.force).isEmpty)
      #expect(harness.store.intents.map(\.generation) == [1])
      harness.provider.release()
      #expect(client.lines().first?.contains("access-2") == true)
      #expect(harness.store.intents.isEmpty)
      harness.provider.setRefresh(.fails(.transient(.networkUnavailable)))
      _ = client.ask(Self.force)
      #expect(harness.store.intents.isEmpty)
    }
  }

  @Test func `nothing is sent while the intent cannot be written`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.store.failure = .failed(context: "a full disk")
      #expect(client.ask(Self.force).first?.contains(#""kind":"storeFailed""#) == true)
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-1") == true)
      #expect(harness.provider.spentTokens.isEmpty)
    }
  }

  @Test func `after a crash in the middle of a refresh the token is served to its end, and then sent`() async throws {
    try await OwnThread.run {
      let (store, clock, harness) = try Self.harnesses(2)
      let first = try harness()
      let before = try first.connect()
      _ = before.ask(Self.login)
      first.provider.hold()
      #expect(before.ask(Self.force).isEmpty)
      let second = try harness()
      let client = try second.connect()
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-1") == true)
      #expect(client.ask(Self.force).first?.contains(#""kind":"refreshOutcomeUnknown""#) == true)
      #expect(client.ask(Self.call("getSession")).first?.contains(#""state":"offline""#) == true)
      #expect(second.provider.spentTokens.isEmpty)
      second.provider.setRefresh(.fails(.sessionEnded(.refreshRejected)))
      clock.advance(by: .seconds(901))
      second.settle()
      #expect(second.provider.spentTokens == ["refresh-1"])
      let session = client.ask(Self.call("getSession")).first
      #expect(session?.contains(#""loginRequiredReason":"refreshOutcomeUnknown""#) == true)
      #expect(store.intents.isEmpty)
    }
  }

  @Test func `a session of an older copy of the vault is used to the end of its token before it is refreshed`()
    async throws
  {
    try await OwnThread.run {
      let (store, clock, harness) = try Self.harnesses(4)
      let first = try harness()
      _ = try first.connect().ask(Self.login)
      #expect(try first.connect().ask(Self.call("getStatus")).first?.contains(#""mayBeOlder":false"#) == true)
      store.makeOlder()
      // That it may be older is put right with the first change, and remembered for the session all the same.
      for isKnown in [true, false] {
        let next = try harness()
        let client = try next.connect()
        if isKnown { #expect(client.ask(Self.call("getStatus")).first?.contains(#""mayBeOlder":true"#) == true) }
        #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-1") == true)
        #expect(client.ask(Self.force).first?.contains(#""kind":"refreshOutcomeUnknown""#) == true)
        #expect(next.provider.spentTokens.isEmpty)
        store.makeOlder(false)
      }
      let last = try harness()
      clock.advance(by: .seconds(901))
      last.settle()
      #expect(last.provider.spentTokens == ["refresh-1"])
      #expect(try last.connect().ask(Self.call("getSession")).first?.contains(#""state":"authenticated""#) == true)
    }
  }

  @Test func `a login that waits for its code outlives the broker`() async throws {
    try await OwnThread.run {
      let (store, _, harness) = try Self.harnesses(2)
      let first = try harness()
      first.provider.setWantsCode(true)
      #expect(try first.connect().ask(Self.login).first?.contains("otpRequired") == true)
      #expect(store.pendingLogins.count == 1)
      let second = try harness()
      let client = try second.connect()
      #expect(client.ask(Self.call("getSession")).first?.contains("challengePending") == true)
      let answer = client.ask(Self.call("verifyOtp", #"{"otpFlowId":"handle-1","code":"123456"}"#)).first
      #expect(answer?.contains(#""status":"authenticated""#) == true)
      #expect(store.pendingLogins.isEmpty)
      // The login and the end of its waiting are one transaction.
      #expect(store.commits.last?.contains(.closeLogin(.default)) == true && store.commits.last?.count == 3)
    }
  }

  @Test func `a login whose code has ended, or whose provider was changed, is not taken up`() async throws {
    try await OwnThread.run {
      for isExpired in [true, false] {
        let (store, clock, harness) = try Self.harnesses(2)
        let first = try harness()
        first.provider.setWantsCode(true)
        _ = try first.connect().ask(Self.login)
        if isExpired { clock.advance(by: .seconds(301)) }
        let second = isExpired ? try harness() : try ServerHarness(store: store, clock: clock, providerType: "other")
        #expect(try second.connect().ask(Self.call("getSession")).first?.contains("signedOut") == true)
        #expect(store.pendingLogins.isEmpty)
      }
    }
  }

  @Test func `a challenge is answered although it cannot be kept, and only when it is kept otherwise`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      harness.provider.setWantsCode(true)
      let client = try harness.connect()
      harness.store.failure = .failed(context: "a full disk")
      #expect(client.ask(Self.login).first?.contains("otpRequired") == true)
      harness.store.failure = nil
      harness.store.hold()
      #expect(client.ask(Self.login).isEmpty)
      harness.store.release()
      #expect(client.lines().first?.contains("otpRequired") == true)
    }
  }

  @Test func `a record that was tampered with asks for a login, and other profiles go on`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(profiles: ["default", "work"], store: store, clock: clock)
      let before = try first.connect()
      for profile in ["default", "work"] {
        _ = before.ask(Self.call("login", #"{"profile":"\#(profile)","email":"a@b.example","password":"right"}"#))
      }
      store.tamper(.default)
      store.makeSuspect()
      let harness = try ServerHarness(profiles: ["default", "work"], store: store, clock: clock)
      let client = try harness.connect()
      let refused = client.ask(Self.call("getAccessToken")).first ?? ""
      #expect(refused.contains(#""kind":"vaultTampered","nextAction":"login""#), "\(refused)")
      let session = client.ask(Self.call("getSession")).first ?? ""
      #expect(session.contains(#""state":"expired""#) && session.contains(#""loginRequiredReason":"vaultTampered""#))
      #expect(client.ask(Self.call("getAccessToken", #"{"profile":"work"}"#)).first?.contains("access-2") == true)
      #expect(harness.reports.all == [.storeTampered(nil), .storeTampered(.default)])
      #expect(store.events.suffix(2).map(\.profile) == [nil, .default])
      #expect(client.ask(Self.login).first?.contains("authenticated") == true)
      #expect(client.ask(Self.call("getAccessToken")).first?.contains(#""result""#) == true)
    }
  }

  @Test func `a save that fails is tried sooner and then later, and clients are served meanwhile`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      client.send(Self.force + "\n")
      harness.store.failure = .failed(context: "a full disk")
      harness.provider.release()
      #expect(client.lines().first?.contains("access-2") == true)
      #expect(client.ask(Self.call("getSession")).first?.contains(#""storeDegraded":true"#) == true)
      #expect(client.ask(Self.force).first?.contains("storeFailed") == true)
      #expect(harness.provider.spentTokens == ["refresh-1"])
      harness.clock.advance(by: .seconds(60))
      harness.settle()
      harness.store.failure = nil
      // Whoever needs another token need not wait for the next try.
      #expect(client.ask(Self.force).first?.contains("access-3") == true)
      #expect(client.ask(Self.call("getSession")).first?.contains("storeDegraded") == false)
      #expect(harness.provider.spentTokens == ["refresh-1", "refresh-2"])
    }
  }
}
