import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What an act on one profile's account means for the sessions of the same account on other profiles: one rule for all.
@Suite(.standardTimeLimit) struct RelatedSessionTests {
  /// Ann on the profiles a, b and c, the last time without her name, and Bob on d, all at one provider; then the provider
  /// ends what is Ann's.
  private struct Stage {
    let harness: ServerHarness
    let client: TestClient
    let watcher: TestClient

    init(habit: RevocationHabit = .token) throws {
      harness = try ServerHarness(profiles: ["a", "b", "c", "d"], directory: ScriptedDirectory()) { $0.setHabit(habit) }
      (client, watcher) = (try harness.connect(), try harness.connect())
      for (profile, user, isNamed) in [
        ("a", "user-1", true), ("b", "user-1", true), ("c", "user-1", false), ("d", "user-2", true),
      ] {
        harness.provider.setUser(user, isNamed: isNamed)
        _ = call("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#)
      }
      _ = watcher.ask(#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"events":["logout","sessionExpired"]}}"#)
      harness.provider.end(refreshTokens: "refresh-2", "refresh-3")
    }

    func call(_ method: String, _ params: String = "{}") -> String {
      client.ask(#"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#).first ?? ""
    }

    /// The states of all sessions, in the order of the profiles.
    var states: [String] {
      call("listSessions").split(separator: #""state":""#).dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }

    /// The reasons of all ends that were told, with their profiles.
    var ends: Set<String> {
      Set(
        watcher.lines().map { line in
          let profile = line.split(separator: #""profile":""#).last?.prefix(1) ?? ""
          let reason = line.split(separator: #""reason":""#).last?.prefix { $0 != "\"" } ?? ""
          return "\(profile) \(reason)"
        })
    }
  }

  @Test(
    arguments: [
      ("logout", #"{"profile":"a","everywhere":true}"#, "signedOut", ["a user", "b user", "c user"]),
      (
        "changePassword", #"{"profile":"a","oldPassword":"right","newPassword":"new"}"#, "authenticated",
        ["b passwordReset", "c passwordReset"]
      ),
      (
        "resetPassword", #"{"profile":"a","token":"t","password":"new"}"#, "authenticated",
        ["b passwordReset", "c passwordReset"]
      ),
      (
        "deleteAccount", #"{"profile":"a","password":"right"}"#, "signedOut",
        ["a accountDeleted", "b accountDeleted", "c accountDeleted"]
      ),
    ] as [(String, String, String, Set<String>)])
  func `the sessions that the provider has ended end with the answer, and no others`(
    _ method: String, _ params: String, _ own: String, _ ends: Set<String>
  ) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      #expect(stage.call(method, params).contains(#""result":"#))
      #expect(stage.states == [own, "signedOut", "signedOut", "authenticated"], "\(method)")
      #expect(stage.ends == ends)
    }
  }

  @Test func `one session's end is no reason to look at others, unless the provider ends whole grants`()
    async throws
  {
    try await OwnThread.run {
      for (habit, others) in [(RevocationHabit.token, "authenticated"), (.grant, "signedOut")] {
        let stage = try Stage(habit: habit)
        #expect(stage.call("logout", #"{"profile":"a"}"#).contains(#""serverRevoked":"yes""#))
        #expect(stage.states == ["signedOut", others, others, "authenticated"])
      }
    }
  }

  @Test func `a logout waits for a look at other sessions no longer than for the provider`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.setRefresh(.fails(.transient(.providerUnavailable)))
      #expect(stage.call("logout", #"{"profile":"a","everywhere":true}"#).contains(#""serverRevoked":"yes""#))
      #expect(stage.states == ["signedOut", "signedOut", "signedOut", "authenticated"])
    }
  }

  @Test(
    arguments: [
      ("setLocalUserEnabled", #"{"user":"user-1","enabled":false}"#, "expired", "refreshRejected"),
      ("revokeLocalSessions", #"{"user":"a@example.test"}"#, "expired", "refreshRejected"),
      ("revokeLocalSessions", #"{"session":"session-1"}"#, "expired", "refreshRejected"),
      ("revokeLocalSessions", #"{"all":true}"#, "expired", "refreshRejected"),
      ("resetLocalUser", #"{"user":"user-1","removeSecondFactor":true}"#, "expired", "refreshRejected"),
      ("resetLocalUser", #"{"user":"user-1","password":"p q"}"#, "signedOut", "passwordReset"),
      ("deleteLocalUser", #"{"user":"user-1"}"#, "signedOut", "accountDeleted"),
    ])
  func `what the owner of the provider ends there is not handed out after the answer`(
    _ method: String, _ params: String, _ state: String, _ reason: String
  ) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      #expect(stage.call(method, params).contains(#""result":"#))
      #expect(stage.states == ["authenticated", state, state, "authenticated"], "\(method)")
      #expect(stage.ends == ["b \(reason)", "c \(reason)"])
    }
  }

  @Test(arguments: [
    ("setLocalUserEnabled", #"{"user":"user-1","enabled":true}"#), ("rotateLocalSigningKey", "{}"),
    ("listLocalUsers", "{}"),
  ])
  func `what ends no session has none examined`(_ method: String, _ params: String) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      #expect(stage.call(method, params).contains(#""result":"#))
      #expect(stage.states.allSatisfy { $0 == "authenticated" } && stage.ends.isEmpty)
    }
  }
}
