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
