import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// Sessions that a change of the configuration signs out while they are refreshed.
@Suite(.standardTimeLimit) struct ParkedRefreshTests {
  @Test func `what a refresh brings that was under way is kept as well`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.beginRefresh()
      stage.configure(stage.other)
      _ = stage.client.lines()
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.harness.provider.revocations == 0)
      stage.configure(stage.harness.provider)
      #expect(stage.call("getAccessToken").contains("access-3"))
      #expect(stage.harness.provider.spentTokens == ["refresh-1", "refresh-2"])
    }
  }

  @Test func `what was read before a refresh was saved does not count`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.beginRefresh()
      stage.configure(stage.other)
      _ = stage.client.lines()
      // The new tokens wait for the disk while the configuration is put back.
      stage.harness.store.hold()
      stage.harness.provider.release()
      stage.harness.settle()
      stage.configure(stage.harness.provider)
      stage.harness.store.release()
      stage.harness.settle()
      #expect(stage.call("getAccessToken").contains("access-3"))
      #expect(stage.harness.provider.spentTokens == ["refresh-1", "refresh-2"])
    }
  }

  @Test func `what a refresh brings is the session's that has come back before it`() async throws {
    try await OwnThread.run {
      for isThere in [true, false] {
        let stage = try ParkedStage()
        _ = stage.call("login", LoginStage.credentials)
        let authTime = stage.call("getSession").split(separator: #""authTime":"#).last?.prefix(22)
        stage.wait(.seconds(10))
        stage.beginRefresh()
        stage.configure(stage.other)
        stage.configure(stage.harness.provider)
        if !isThere { stage.configure(stage.other) }
        stage.harness.provider.release()
        stage.harness.settle()
        _ = stage.client.lines()
        if !isThere { stage.configure(stage.harness.provider) }
        #expect(stage.harness.provider.revocations == 0)
        stage.harness.provider.end(refreshTokens: "refresh-1")
        #expect(stage.call("getAccessToken", #"{"forceRefresh":true}"#).contains("accessToken"))
        #expect(stage.harness.provider.spentTokens.last != "refresh-1")
        #expect(stage.call("getSession").split(separator: #""authTime":"#).last?.prefix(22) == authTime)
      }
    }
  }

  @Test(arguments: [true, false])
  func `a session that has come back waits for its refresh, as it did before`(_ isRefused: Bool) async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.beginRefresh()
      stage.configure(stage.other)
      stage.configure(stage.harness.provider)
      _ = stage.client.lines()
      // The access token is over, and nothing is left to be lost but the session.
      stage.wait(.seconds(4000))
      stage.client.send(LoginStage.line("getAccessToken", #"{"timeout":9000}"#) + "\n")
      stage.wait(.seconds(1))
      if isRefused { stage.harness.provider.end(refreshTokens: "refresh-1") }
      stage.harness.provider.release()
      stage.harness.settle()
      let answer = stage.client.lines().last ?? ""
      #expect(answer.contains(isRefused ? "sessionExpired" : "accessToken"), "\(answer)")
      #expect(stage.harness.provider.spentTokens == ["refresh-1"] && stage.harness.provider.revocations == 0)
      #expect(stage.harness.store.intents.isEmpty)
    }
  }

  @Test func `what a refresh brings is kept by a vault that is being locked`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.beginRefresh()
      stage.configure(stage.other)
      stage.client.prove()
      stage.client.send(LoginStage.line("lock") + "\n")
      stage.harness.provider.release()
      stage.harness.settle()
      _ = stage.client.lines()
      #expect(stage.harness.provider.revocations == 0)
      _ = stage.call("unlock")
      stage.configure(stage.harness.provider)
      #expect(stage.call("getAccessToken").contains("access-3"))
      #expect(stage.harness.provider.spentTokens == ["refresh-1", "refresh-2"])
    }
  }

  @Test func `a refresh token whose fate is unknown is not sent while the access token lives`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let stage = try ParkedStage(store: store, clock: clock)
      _ = stage.call("login", LoginStage.credentials)
      stage.beginRefresh()
      stage.configure(stage.other)
      // The broker dies before the answer comes, and the next one has the configuration of before.
      let next = try ParkedStage(store: store, clock: clock)
      #expect(next.call("getAccessToken").contains("access-1"))
      #expect(next.harness.provider.spentTokens.isEmpty)
    }
  }

  @Test func `a profile that leaves in the middle of a refresh is kept once that is saved`() async throws {
    try await OwnThread.run {
      let (stage, work) = (try ParkedStage(), try #require(ProfileName("work")))
      _ = stage.call("login", LoginStage.credentials)
      stage.beginRefresh()
      stage.configure(stage.other, as: work)
      stage.harness.provider.release()
      stage.harness.settle()
      _ = stage.client.lines()
      #expect(stage.call("getStatus").contains(#""parkedSessions":[{"profile":"default""#))
    }
  }
}
