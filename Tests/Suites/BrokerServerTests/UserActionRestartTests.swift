import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// Logins whose user does something elsewhere, over restarts, locks and reconfigurations.
@Suite(.standardTimeLimit) struct UserActionRestartTests {
  @Test func `a device that is waited for outlives the broker, and is asked for by the next one`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let prepare: (ScriptedProvider) -> Void = { $0.setLoginMethods([.deviceCode]) }
      let first = try LoginStage(store: store, clock: clock, prepare: prepare)
      let id = try LoginStage.loginFlow(first.call("login"))
      #expect(first.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      first.harness.server.assumeIsolated { $0.drain() }
      #expect(first.client.lines().first?.contains("shuttingDown") == true)
      #expect(store.pendingLogins.count == 1)
      let second = try LoginStage(store: store, clock: clock, prepare: prepare)
      second.harness.provider.setPolls([.done])
      second.client.prove()
      #expect(second.call("listPendingLogins").contains(#""userCode":"AB-CD""#))
      #expect(second.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      second.wait(5)
      #expect(first.harness.provider.pollCount == 0)
      #expect(second.client.lines().first?.contains(#""status":"authenticated""#) == true)
      #expect(store.pendingLogins.isEmpty)
    }
  }

  @Test func `a broker that ends waits for the answer to its last question, as the tokens in it come only once`()
    async throws
  {
    try await OwnThread.run {
      for (poll, isSaved) in [(ScriptedProvider.Poll.done, true), (.pending(), false)] {
        let (store, clock) = (InMemoryStore(), ManualClock())
        let stage = try LoginStage(store: store, clock: clock) { provider in
          provider.setLoginMethods([.deviceCode])
          provider.setPolls([poll])
        }
        _ = stage.call("login")
        stage.harness.provider.hold()
        stage.wait(5)
        stage.client.close()
        stage.watcher.close()
        stage.harness.server.assumeIsolated { $0.drain() }
        stage.harness.settle()
        #expect(!stage.harness.stopFlag.isRaised)
        stage.harness.provider.release()
        stage.harness.settle()
        #expect(stage.harness.stopFlag.isRaised)
        #expect(store.saveCount == (isSaved ? 1 : 0))
        #expect(store.pendingLogins.isEmpty == isSaved)
        clock.advance(by: .seconds(30))
        stage.harness.settle()
        #expect(stage.harness.provider.pollCount == 1)
      }
    }
  }

  @Test func `a browser is listened for again by the next broker, unless its time is over`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let prepare: (ScriptedProvider) -> Void = { $0.setLoginMethods([.browser]) }
      let first = try LoginStage(store: store, clock: clock, prepare: prepare)
      _ = first.call("login")
      first.harness.server.assumeIsolated { $0.drain() }
      first.harness.settle()
      #expect(first.harness.provider.listenerCount == 0 && first.harness.stopFlag.isRaised)
      let second = try LoginStage(store: store, clock: clock, prepare: prepare)
      #expect(second.harness.provider.listenerCount == 1)
      second.harness.server.assumeIsolated { $0.drain() }
      clock.advance(by: .seconds(601))
      let third = try LoginStage(store: store, clock: clock, prepare: prepare)
      #expect(third.harness.provider.listenerCount == 0 && store.pendingLogins.isEmpty)
      #expect(store.events.last?.payload == .loginFailed(LoginFailedEvent(kind: "otpExpired")))
    }
  }

  @Test func `the lock waits for no user, and the unlock takes the login up again`() async throws {
    try await OwnThread.run {
      for method in [LoginMethod.browser, .deviceCode] {
        let stage = try LoginStage { $0.setLoginMethods([method]) }
        let id = try LoginStage.loginFlow(stage.call("login"))
        #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
        stage.harness.provider.setPolls([.done])
        if method == .deviceCode {
          stage.harness.provider.hold()
          stage.wait(5)
        }
        let other = try stage.harness.connect()
        #expect(other.ask(LoginStage.line("lock")).first?.contains(#""result":{}"#) == true)
        #expect(stage.harness.store.isLocked)
        #expect(stage.client.lines().first?.contains("vaultLocked") == true)
        #expect(stage.harness.provider.listenerCount == 0)
        #expect(stage.call("listPendingLogins").contains("vaultLocked"))
        // What the provider says behind the lock is not taken in: it is given back at once, and nothing of it is kept.
        stage.harness.provider.release()
        stage.harness.settle()
        #expect(stage.harness.store.saveCount == 0)
        let revocations = method == .deviceCode ? 1 : 0
        #expect(stage.harness.provider.revocations == revocations)
        #expect(stage.call("getStatus").contains(#""pendingRevocations":0"#))
        _ = other.ask(LoginStage.line("unlock"))
        #expect(stage.harness.provider.revocations == revocations)
        #expect(stage.call("listPendingLogins").contains(id))
        #expect(stage.harness.provider.listenerCount == (method == .browser ? 1 : 0))
      }
    }
  }
}
