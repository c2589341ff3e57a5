import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Sessions whose profile has left the configuration: a logout of everything ends them too.
@Suite(.standardTimeLimit) struct LeftProfileTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static func login(_ profile: String) -> String {
    call("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#)
  }

  /// What a logout of everything says, profile by profile.
  private static func results(_ line: String?) -> [String] {
    (line ?? "").split(separator: #"{"profile":""#).dropFirst().map { part in
      part.split(separator: "\"").filter { $0 != "," && $0 != ":" && $0 != "serverRevoked" }.prefix(2)
        .joined(separator: " ")
    }
  }

  private static func isSignedOut(_ profile: String, _ store: InMemoryStore) -> Bool {
    guard let record = store.records.first(where: { $0.profile.description == profile }) else { return false }
    if case .signedOut = record.contents { return true }
    return false
  }

  @Test func `it ends, is revoked by a profile with the same binding, and is told of`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(profiles: ["a", "b"], store: store, clock: clock)
      let before = try first.connect()
      for profile in ["a", "b"] { _ = before.ask(Self.login(profile)) }
      let second = try ServerHarness(profiles: ["b"], store: store, clock: clock)
      let (client, watcher) = (try second.connect(), try second.connect())
      _ = watcher.ask(Self.call("subscribe"))
      let answer = client.ask(Self.call("logout", #"{"all":true}"#)).first
      #expect(Self.results(answer) == ["b yes", "a yes"], "\(answer ?? "")")
      #expect(second.provider.revocationLedger.map(\.token).sorted() == ["refresh-1", "refresh-2"])
      #expect(Self.isSignedOut("a", store) && Self.isSignedOut("b", store) && store.revocations.isEmpty)
      let events = watcher.lines().filter { $0.contains(#""event":"logout""#) }
      #expect(events.count == 2 && events.contains { $0.contains(#""profile":"a""#) }, "\(events)")
      let third = try ServerHarness(profiles: ["a", "b"], store: store, clock: clock)
      let last = try third.connect()
      let asked = last.ask(Self.call("getAccessToken", #"{"profile":"a"}"#)).first ?? ""
      #expect(asked.contains("loginRequired"), "\(asked)")
      #expect(Self.results(client.ask(Self.call("logout", #"{"all":true}"#)).first) == ["b no"], "nothing is left")
    }
  }

  @Test func `where no configured profile has its binding, nothing is sent anywhere`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(profiles: ["a"], store: store, clock: clock)
      _ = try first.connect().ask(Self.login("a"))
      let second = try ServerHarness(profiles: ["b"], store: store, clock: clock, providerType: "other")
      let answer = try second.connect().ask(Self.call("logout", #"{"all":true}"#)).first
      #expect(Self.results(answer) == ["b no", "a unsupported"], "\(answer ?? "")")
      #expect(second.provider.revocations == 0 && Self.isSignedOut("a", store))
    }
  }

  @Test func `only a logout of everything, or of its name, ends it`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(profiles: ["a"], store: store, clock: clock)
      _ = try first.connect().ask(Self.login("a"))
      let second = try ServerHarness(profiles: ["b"], store: store, clock: clock)
      let client = try second.connect()
      #expect(Self.results(client.ask(Self.call("logout")).first) == ["b no"])
      #expect(!Self.isSignedOut("a", store))
      #expect(Self.results(client.ask(Self.call("logout", #"{"profile":"a"}"#)).first) == ["a yes"])
      #expect(Self.isSignedOut("a", store))
      #expect(client.ask(Self.call("logout", #"{"profile":"a"}"#)).first?.contains("unknownProfile") == true)
    }
  }

  @Test func `a record that cannot be trusted goes as well, with a login that waited`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(profiles: ["a", "c"], store: store, clock: clock) { $0.setWantsCode(true) }
      let before = try first.connect()
      _ = before.ask(Self.login("c"))
      first.provider.setWantsCode(false)
      _ = before.ask(Self.login("a"))
      store.tamper(ProfileName("a") ?? .default)
      let second = try ServerHarness(profiles: ["b"], store: store, clock: clock)
      let answer = try second.connect().ask(Self.call("logout", #"{"all":true}"#)).first
      #expect(Self.results(answer) == ["b no", "a no"], "\(answer ?? "")")
      #expect(Self.isSignedOut("a", store) && store.pendingLogins.isEmpty)
    }
  }

  @Test func `a vault that cannot be written is no success`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(profiles: ["a"], store: store, clock: clock)
      _ = try first.connect().ask(Self.login("a"))
      let second = try ServerHarness(profiles: ["b"], store: store, clock: clock)
      let client = try second.connect()
      store.failure = .failed(context: "a full disk")
      let answer = client.ask(Self.call("logout", #"{"all":true}"#)).first ?? ""
      #expect(answer.contains("storeFailed") && answer.contains("log out again"), "\(answer)")
      store.failure = nil
      #expect(Self.results(client.ask(Self.call("logout", #"{"all":true}"#)).first) == ["b no", "a yes"])
    }
  }
}
