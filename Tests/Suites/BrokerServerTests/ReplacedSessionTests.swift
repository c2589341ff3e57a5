import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What becomes of a session at its provider when a login replaces it.
@Suite(.standardTimeLimit) struct ReplacedSessionTests {
  private static func revoked(_ stage: LoginStage) -> [String] { stage.harness.provider.revocationLedger.map(\.token) }

  @Test func `four logins leave one session at the provider, the same user's or another's`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      stage.client.prove()
      for user in ["user-1", "user-1", "user-2", "user-1"] {
        stage.harness.provider.setUser(user)
        #expect(stage.call("login", LoginStage.credentials).contains("authenticated"))
      }
      #expect(Self.revoked(stage) == ["refresh-1", "refresh-2", "refresh-3"])
      #expect(stage.harness.provider.revocationLedger.allSatisfy { !$0.everywhere })
      #expect(stage.call("getAccessToken").contains("access-4"))
      #expect(stage.harness.store.revocations.isEmpty)
    }
  }

  @Test func `a provider that revokes whole grants is told only of another user's session`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setRevokesWholeGrants() }
      stage.client.prove()
      for user in ["user-1", "user-1", "user-2", "user-2"] {
        stage.harness.provider.setUser(user)
        _ = stage.call("login", LoginStage.credentials)
      }
      stage.wait(100_000)
      #expect(Self.revoked(stage) == ["refresh-2"] && stage.harness.store.revocations.isEmpty)
      #expect(stage.harness.reports.all.isEmpty)
    }
  }

  @Test func `a user who is not known may be the same`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setRevokesWholeGrants() }
      stage.client.prove()
      _ = stage.call("login", LoginStage.credentials)
      stage.harness.provider.setUser("user-2", isNamed: false)
      _ = stage.call("login", LoginStage.credentials)
      #expect(Self.revoked(stage).isEmpty)
    }
  }

  @Test func `a provider that is away is told later, and after a restart`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let stage = try LoginStage(store: store, clock: clock) { _ in }
      _ = stage.call("login", LoginStage.credentials)
      stage.harness.provider.setRevocationFailure(.transient(.networkUnavailable))
      _ = stage.call("login", LoginStage.credentials)
      #expect(store.revocations.map(\.tokens) == [ScriptedProvider.tokens(1, now: clock.now)])
      let next = try LoginStage(store: store, clock: clock) { _ in }
      #expect(Self.revoked(next) == ["refresh-1"] && store.revocations.isEmpty)
      #expect(next.call("getAccessToken").contains("access-2"))
    }
  }

  @Test func `a login that cannot be saved revokes nothing of the session that goes on`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      _ = stage.call("login", LoginStage.credentials)
      stage.harness.store.failure = .failed(context: "a full disk")
      #expect(stage.call("login", LoginStage.credentials).contains("storeFailed"))
      stage.harness.store.failure = nil
      stage.wait(60)
      #expect(!Self.revoked(stage).contains("refresh-1"))
      #expect(stage.call("getAccessToken").contains("access-1"))
    }
  }

  @Test func `a refresh token that a client gives twice is not revoked under its own session`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.refreshToken, .password]) }
      for _ in 1...3 { #expect(stage.call("login", #"{"refreshToken":"taken"}"#).contains("authenticated")) }
      #expect(Self.revoked(stage).isEmpty, "it may be of the same grant")
      stage.harness.provider.setUser("user-2")
      _ = stage.call("login", #"{"refreshToken":"taken"}"#)
      #expect(Self.revoked(stage) == ["refresh-3"])
    }
  }

  @Test func `a session that began here ends where another program's takes its place, the same user's too`()
    async throws
  {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.refreshToken, .password]) }
      stage.client.prove()
      _ = stage.call("login", LoginStage.credentials)
      #expect(stage.call("login", #"{"refreshToken":"taken"}"#).contains("authenticated"))
      #expect(Self.revoked(stage) == ["refresh-1"])
      #expect(stage.call("getAccessToken").contains("access-2"))
      // The one that was taken over ends with the next login of its user.
      _ = stage.call("login", LoginStage.credentials)
      #expect(Self.revoked(stage) == ["refresh-1", "refresh-2"])
    }
  }

  @Test func `a user who proves once more who they are leaves one session, too`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      _ = stage.call("login", LoginStage.credentials)
      #expect(stage.call("reauthenticate", #"{"password":"right"}"#).contains("authenticated"))
      #expect(Self.revoked(stage) == ["refresh-1"])
      #expect(stage.call("getAccessToken").contains("access-2"))
    }
  }
}
