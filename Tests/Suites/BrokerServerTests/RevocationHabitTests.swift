import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Providers of which it is not known, or is configured, what else ends with a revoked token.
@Suite(.standardTimeLimit) struct RevocationHabitTests {
  private static func revoked(_ stage: LoginStage) -> [String] { stage.harness.provider.revocationLedger.map(\.token) }

  private static func logIn(_ stage: LoginStage, _ times: Int = 1) {
    for _ in 0..<times { _ = stage.call("login", LoginStage.credentials) }
  }

  @Test func `after the first revocation the new session is looked at, and later ones are trusted`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setHabit(nil) }
      Self.logIn(stage, 2)
      #expect(Self.revoked(stage) == ["refresh-1"])
      #expect(stage.harness.provider.spentTokens == ["refresh-2"])
      Self.logIn(stage, 2)
      #expect(Self.revoked(stage) == ["refresh-1", "refresh-3", "refresh-4"])
      #expect(stage.harness.provider.spentTokens == ["refresh-2"])
      #expect(stage.call("getSession").contains(#""state":"authenticated""#))
    }
  }

  @Test func `a provider that is seen to end whole grants is not told again, also after a restart`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let stage = try LoginStage(store: store, clock: clock) { provider in
        provider.setHabit(nil)
        provider.end(refreshTokens: "refresh-2")
      }
      Self.logIn(stage, 2)
      #expect(stage.call("getSession").contains(#""loginRequiredReason":"refreshRejected""#))
      Self.logIn(stage, 2)
      #expect(Self.revoked(stage) == ["refresh-1"])
      let next = try LoginStage(store: store, clock: clock) { $0.setHabit(nil) }
      Self.logIn(next)
      #expect(Self.revoked(next).isEmpty && next.call("getSession").contains("authenticated"))
    }
  }

  @Test func `a provider that cannot be asked has shown nothing`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { provider in
        provider.setHabit(nil)
        provider.setRefresh(.fails(.transient(.providerUnavailable)))
      }
      Self.logIn(stage, 2)
      #expect(stage.call("getSession").contains(#""state":"offline""#))
      stage.harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      Self.logIn(stage)
      #expect(Self.revoked(stage) == ["refresh-1", "refresh-2"])
      #expect(stage.harness.provider.spentTokens == ["refresh-2", "refresh-3"])
    }
  }

  @Test func `what the profile says holds, whatever is known of the provider`() async throws {
    try await OwnThread.run {
      for (habit, revoked, answer) in [
        (RevocationHabit.token, ["refresh-1", "refresh-2"], "yes"), (.grant, ["refresh-2"], "yes"),
        (.none, [], "unsupported"),
      ] as [(RevocationHabit, [String], String)] {
        let harness = try ServerHarness(rules: SessionRules(revocation: habit)) { provider in
          provider.setHabit(habit == .token ? .grant : .token)
        }
        let client = try harness.connect()
        for _ in 0..<2 { _ = client.ask(LoginStage.line("login", LoginStage.credentials)) }
        #expect(client.ask(LoginStage.line("logout")).first?.contains(#""serverRevoked":"\#(answer)""#) == true)
        #expect(harness.provider.revocationLedger.map(\.token) == revoked, "\(habit)")
      }
    }
  }
}
