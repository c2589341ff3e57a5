import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// Sessions that a change of the configuration signs out: they are kept, and come back with the configuration.
@Suite(.standardTimeLimit) struct ParkedSessionTests {
  @Test func `a session comes back with its configuration, and its first use asks the provider`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      _ = stage.events
      stage.configure(stage.other)
      #expect(stage.events == ["logout", "configReloaded"])
      #expect(stage.call("getAccessToken").contains("loginRequired"))
      let status = stage.call("getStatus")
      #expect(status.contains(#""parkedSessions":[{"profile":"default","provider":"scripted","until":"2027-02-14"#))
      #expect(stage.harness.reports.all.contains { if case .parked(.default, _) = $0 { true } else { false } })
      #expect(stage.harness.provider.revocations == 0 && stage.other.spentTokens.isEmpty)
      stage.configure(stage.harness.provider)
      // A session that is in use is refreshed without a caller, too.
      #expect(stage.events == ["login", "configReloaded", "tokenRefreshed"])
      #expect(stage.call("getStatus").contains(#""parkedSessions":[]"#) && stage.harness.store.parked.isEmpty)
      #expect(stage.call("getSession").contains(#""authTime":"2027-01-15T08:00:00Z""#))
      #expect(stage.call("getAccessToken").contains("access-2"))
      #expect(stage.harness.provider.spentTokens == ["refresh-1"])
    }
  }

  @Test func `both sessions of a profile live, each with its own configuration, also over restarts`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ParkedStage(store: store, clock: clock)
      _ = first.call("login", LoginStage.credentials)
      let second = try ParkedStage(store: store, clock: clock, isOther: true)
      #expect(second.call("getSession").contains("signedOut") && store.parked.count == 1)
      second.harness.provider.setUser("user-2")
      _ = second.call("login", LoginStage.credentials)
      let third = try ParkedStage(store: store, clock: clock)
      #expect(third.call("getSession").contains(#""userId":"user-1""#))
      #expect(store.parked.map(\.record.binding.type) == ["other"])
      #expect(third.call("getAccessToken").contains("accessToken"))
      let fourth = try ParkedStage(store: store, clock: clock, isOther: true)
      #expect(fourth.call("getSession").contains(#""userId":"user-2""#))
      #expect(store.parked.map(\.record.binding.type) == ["scripted"])
    }
  }

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

  @Test func `a session that its provider has ended meanwhile is over when it comes back`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.configure(stage.other)
      stage.harness.provider.end(refreshTokens: "refresh-1")
      stage.configure(stage.harness.provider)
      #expect(stage.call("getAccessToken").contains("sessionExpired"))
    }
  }

  @Test func `a logout ends it at its own provider`() async throws {
    try await OwnThread.run {
      for params in ["{}", #"{"profile":"default"}"#, #"{"all":true}"#] {
        let stage = try ParkedStage()
        _ = stage.call("login", LoginStage.credentials)
        stage.configure(stage.other)
        #expect(stage.call("logout", params).contains("serverRevoked"))
        stage.harness.settle()
        #expect(stage.harness.store.parked.isEmpty)
        #expect(stage.harness.provider.revocationLedger.map(\.token) == ["refresh-1"], "\(params)")
        stage.configure(stage.harness.provider)
        #expect(stage.call("getSession").contains("signedOut"))
      }
    }
  }

  @Test func `a logout that could not be made durable fails, and the session is kept until the next one`() async throws
  {
    try await OwnThread.run {
      for isGone in [false, true] {
        let (stage, work) = (try ParkedStage(), try #require(ProfileName("work")))
        _ = stage.call("login", LoginStage.credentials)
        stage.configure(stage.other)
        if isGone { stage.configure(stage.other, as: work) }
        stage.harness.store.failure = .failed(context: "a full disk")
        let refused = stage.call("logout", #"{"profile":"default"}"#)
        #expect(refused.contains("storeFailed") && refused.contains("log out again"), "\(refused)")
        #expect(stage.call("getStatus").contains(#""parkedSessions":[{"profile":"default""#))
        stage.harness.store.failure = nil
        let answer = stage.call("logout", #"{"profile":"default"}"#)
        #expect(answer.contains(#""profile":"default","serverRevoked":"#), "\(answer)")
        stage.harness.settle()
        #expect(stage.harness.store.parked.isEmpty && stage.harness.provider.revocations > 0)
      }
    }
  }

  @Test func `what is still to be revoked of it is durable with its end`() async throws {
    try await OwnThread.run {
      let (stage, work) = (try ParkedStage(), try #require(ProfileName("work")))
      _ = stage.call("login", LoginStage.credentials)
      stage.configure(stage.other)
      let settings = [
        ProfileSettings(name: .default, provider: stage.other),
        ProfileSettings(name: work, provider: stage.harness.provider),
      ]
      stage.harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
      stage.harness.settle()
      _ = stage.call("logout", #"{"profile":"default"}"#)
      let ends = stage.harness.store.commits.filter { $0.contains { if case .unpark = $0 { true } else { false } } }
      #expect(ends.count == 1)
      #expect(ends.first?.contains { if case .openRevocation = $0 { true } else { false } } == true)
    }
  }

  @Test func `an end that the store refuses after thirty days is tried again`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.configure(stage.other)
      stage.harness.store.failure = .failed(context: "a full disk")
      stage.wait(.seconds(31 * 86400 + 1))
      #expect(stage.harness.store.parked.count == 1)
      stage.harness.store.failure = nil
      stage.wait(.seconds(61))
      #expect(stage.harness.store.parked.isEmpty)
    }
  }

  @Test func `the session of a profile that is gone is told of, and ends by a logout of its name`() async throws {
    try await OwnThread.run {
      let (stage, work) = (try ParkedStage(), try #require(ProfileName("work")))
      _ = stage.call("login", LoginStage.credentials)
      stage.configure(stage.harness.provider, as: work)
      #expect(stage.call("getStatus").contains(#""parkedSessions":[{"profile":"default","provider":"scripted""#))
      #expect(stage.call("logout", #"{"profile":"nobody"}"#).contains("unknownProfile"))
      let answer = stage.call("logout", #"{"profile":"default"}"#)
      #expect(answer.contains(#""profile":"default","serverRevoked":"yes""#), "\(answer)")
      #expect(stage.call("getStatus").contains(#""parkedSessions":[]"#))
      stage.configure(stage.harness.provider)
      #expect(stage.call("getSession").contains("signedOut"))
    }
  }

  @Test(arguments: [false, true])
  func `after thirty days and one more it ends, and is revoked where its provider is known`(_ isGone: Bool) async throws
  {
    try await OwnThread.run {
      let (stage, work) = (try ParkedStage(), try #require(ProfileName("work")))
      _ = stage.call("login", LoginStage.credentials)
      if isGone { stage.configure(stage.harness.provider, as: work) } else { stage.configure(stage.other) }
      stage.wait(.seconds(31 * 86400 - 1))
      #expect(stage.harness.store.parked.count == 1 && stage.harness.provider.revocations == 0)
      stage.wait(.seconds(2))
      #expect(stage.harness.store.parked.isEmpty)
      #expect(stage.harness.reports.all.count { if case .parkedEnded(.default) = $0 { true } else { false } } == 1)
      #expect(stage.harness.provider.revocationLedger.map(\.token) == ["refresh-1"])
      stage.configure(stage.harness.provider)
      #expect(stage.call("getSession").contains("signedOut"))
    }
  }

  @Test func `no step of the wall clock ends it, nor does a clock that was wrong at the start`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ParkedStage(store: store, clock: clock)
      _ = first.call("login", LoginStage.credentials)
      first.configure(first.other)
      let year = Duration.seconds(365 * 86400)
      first.set(by: year)
      first.wait(.seconds(86399))
      // The time server has its say: whatever was counted before begins again.
      first.set(by: .zero - year)
      first.set(by: year)
      first.wait(.seconds(86399))
      #expect(store.parked.count == 1 && first.harness.provider.revocations == 0)
      // Another broker begins to count by itself.
      let second = try ParkedStage(store: store, clock: clock, isOther: true)
      second.wait(.seconds(3600))
      #expect(store.parked.count == 1)
      let third = try ParkedStage(store: store, clock: clock)
      #expect(third.call("getAccessToken").contains("accessToken"), "past its day by the clock, it comes back still")
    }
  }

  @Test func `a locked vault says nothing of it, and has it after it was unlocked`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.configure(stage.other)
      _ = stage.call("lock")
      #expect(stage.call("getStatus").contains(#""parkedSessions":[]"#))
      _ = stage.call("unlock")
      #expect(stage.call("getStatus").contains(#""parkedSessions":[{"#))
      stage.configure(stage.harness.provider)
      #expect(stage.call("getAccessToken").contains("access-2"))
    }
  }
}
