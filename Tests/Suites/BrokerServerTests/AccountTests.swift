import BrokerCore
import BrokerProtocol
import BrokerServer
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// What people do with their accounts, and what becomes of their sessions.
@Suite(.standardTimeLimit) struct AccountTests {
  /// A client of a harness with a session, and a watcher of all events.
  private struct Stage {
    let harness: ServerHarness
    let client: TestClient
    let watcher: TestClient

    init(loggedIn: Bool = true) throws {
      harness = try ServerHarness()
      client = try harness.connect()
      watcher = try harness.connect()
      if loggedIn { _ = call("login", #"{"email":"a@example.test","password":"right"}"#) }
      _ = watcher.ask(#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#)
    }

    func call(_ method: String, _ params: String = "{}") -> String {
      client.ask(#"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#).first ?? ""
    }
  }

  @Test func `a new password by mail ends the session that the provider has ended`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.end(refreshTokens: "refresh-1")
      #expect(stage.call("resetPassword", #"{"token":"t","password":"new"}"#).contains(#""result":{}"#))
      let events = stage.watcher.lines()
      #expect(events.count == 1)
      #expect(events.first?.contains(#""event":"logout""#) == true)
      #expect(events.first?.contains("passwordReset") == true)
      #expect(stage.call("getAccessToken").contains("loginRequired"))
      #expect(stage.harness.provider.revocations == 0)
    }
  }

  @Test func `a deleted account takes its session with it, durably`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.store.failure = .failed(context: "a full disk")
      #expect(stage.call("deleteAccount", #"{"password":"right"}"#).contains("storeFailed"))
      #expect(stage.watcher.lines().isEmpty)
      #expect(stage.call("getAccessToken").contains("loginRequired"))
      stage.harness.store.failure = nil
      stage.harness.clock.advance(by: .seconds(2))
      #expect(stage.watcher.lines().contains { $0.contains("accountDeleted") })
      guard case .signedOut? = stage.harness.store.records.first?.contents else {
        Issue.record("the session was not signed out")
        return
      }
    }
  }

  @Test func `a changed password keeps the session, with new tokens where there are any`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      let params = #"{"oldPassword":"right","newPassword":"new"}"#
      #expect(stage.call("changePassword", params).contains(#""result":{}"#))
      #expect(stage.call("getAccessToken").contains("access-1"))
      #expect(stage.watcher.lines().isEmpty)
      stage.harness.provider.setGivesNewTokens(true)
      #expect(stage.call("changePassword", params).contains(#""result":{}"#))
      #expect(stage.call("getAccessToken").contains("access-2"))
      #expect(stage.watcher.lines().filter { $0.contains("tokenRefreshed") }.count == 1)
      #expect(stage.harness.store.saveCount == 2)
      stage.harness.provider.setAccountFailure(.refused(.invalidCredentials))
      #expect(stage.call("changePassword", params).contains("invalidCredentials"))
      #expect(stage.call("getAccessToken").contains("access-2"))
    }
  }

  @Test func `a changed profile is told and remembered`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      let answer = stage.call("updateProfile", #"{"changes":{"name":"B","newsletter":true}}"#)
      #expect(answer.contains(#""name":"B""#))
      #expect(stage.watcher.lines().filter { $0.contains("userUpdated") }.count == 1)
      let calls = stage.harness.provider.accountCalls
      #expect(calls == [#"updateProfile ["name", "newsletter"]"#])
      #expect(stage.call("getCurrentUser").contains(#""name":"B""#))
      #expect(stage.harness.provider.accountCalls == calls)
      for changes in ["{}", #"{"a":{}}"#, #"{"a":[1]}"#, "[]", "7"] {
        #expect(stage.call("updateProfile", #"{"changes":\#(changes)}"#).contains("invalidParams"))
      }
    }
  }

  @Test func `a changed profile outlives the broker that has answered it`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.store.hold()
      #expect(stage.call("updateProfile", #"{"changes":{"name":"B"}}"#).isEmpty, "it is answered once it is durable")
      #expect(stage.watcher.lines().isEmpty)
      #expect(!stage.call("getSession").contains(#""name""#))
      stage.harness.store.release()
      #expect(stage.client.lines().first?.contains(#""name":"B""#) == true)
      #expect(stage.watcher.lines().filter { $0.contains("userUpdated") }.count == 1)
      // Killed, and started again.
      let next = try ServerHarness(store: stage.harness.store, clock: stage.harness.clock).connect()
      #expect(next.ask(#"{"jsonrpc":"2.0","id":1,"method":"getSession"}"#).first?.contains(#""name":"B""#) == true)
    }
  }

  @Test func `a changed profile that cannot be kept is an error, and kept and told as soon as there is room`()
    async throws
  {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.store.failure = .failed(context: "a full disk")
      #expect(stage.call("updateProfile", #"{"changes":{"name":"B"}}"#).contains(#""kind":"storeFailed""#))
      #expect(stage.call("getSession").contains(#""storeDegraded":true"#) && stage.watcher.lines().isEmpty)
      // To ask who the user is changes nothing.
      stage.harness.clock.advance(by: .seconds(1))
      #expect(stage.call("getCurrentUser", #"{"maxAgeSeconds":0}"#).contains(#""name":"A""#))
      stage.harness.store.failure = nil
      stage.harness.clock.advance(by: .seconds(30))
      #expect(stage.watcher.lines().contains { $0.contains("userUpdated") })
      guard case .living(let session)? = stage.harness.store.records.first?.contents else {
        Issue.record("the session is gone")
        return
      }
      #expect(session.user?.name == "A")
    }
  }

  @Test func `the account is asked for once in five minutes`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      _ = stage.call("getCurrentUser")
      #expect(stage.harness.provider.accountCalls.isEmpty)
      stage.harness.clock.advance(by: .seconds(301))
      _ = stage.call("getCurrentUser")
      _ = stage.call("getCurrentUser")
      #expect(stage.harness.provider.accountCalls == ["currentUser"])
      stage.harness.clock.advance(by: .seconds(1))
      _ = stage.call("getCurrentUser", #"{"maxAgeSeconds":0}"#)
      #expect(stage.harness.provider.accountCalls.count == 2)
    }
  }

  @Test func `another user than the session's is not believed, and not remembered`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.setUser("user-2")
      stage.harness.clock.advance(by: .seconds(1))
      let answer = stage.call("getCurrentUser", #"{"maxAgeSeconds":0}"#)
      #expect(answer.contains("invalidResponse") && !answer.contains("user-2"))
      #expect(stage.call("getSession").contains(#""id":"user-1""#))
      #expect(stage.watcher.lines().allSatisfy { !$0.contains("userUpdated") })
      #expect(stage.call("getAccessToken").contains("access-1"), "the session is what it was")
    }
  }

  @Test func `a refused access token is exchanged once, never twice`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.refuse(accessToken: "access-1")
      #expect(stage.call("updateProfile", #"{"changes":{"name":"B"}}"#).contains(#""name":"B""#))
      #expect(stage.harness.provider.spentTokens == ["refresh-1"])
      stage.harness.provider.refuse(accessToken: "access-2")
      stage.harness.provider.refuse(accessToken: "access-3")
      #expect(stage.call("updateProfile", #"{"changes":{"name":"C"}}"#).contains("providerRejected"))
      #expect(stage.harness.provider.spentTokens == ["refresh-1", "refresh-2"])
      #expect(stage.call("getAccessToken").contains("access-3"))
    }
  }

  @Test func `what the provider cannot do is refused without asking it, and is no capability`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      #expect(stage.call("verifyEmail", #"{"token":"t"}"#).contains("unsupportedByProvider"))
      let answer = stage.call("initialize")
      #expect(answer.contains(#""methods":["changePassword","deleteAccount""#))
      #expect(!answer.contains(#""verifyBackupCode","verifyEmail"]"#))
    }
  }

  @Test func `whether there is an account is not told`() async throws {
    try await OwnThread.run {
      let stage = try Stage(loggedIn: false)
      #expect(stage.call("forgotPassword", #"{"email":"nobody@example.test"}"#).contains(#""result":{}"#))
      #expect(stage.harness.provider.accountCalls == ["forgotPassword nobody@example.test"])
    }
  }

  @Test(arguments: [
    ProviderFailure.refused(.providerRejected), .refused(.invalidCredentials), .refused(.validationFailed),
    .refused(.validationFailed, fields: ["email"]), .refused(.invalidResponse), .refused(.accountLocked),
    .refused(.emailUnverified), .refused(.flowNotFound), .refused(.forbidden), .refused(.resendTooSoon),
  ])
  func `a refusal of the address is answered as a success is`(_ failure: ProviderFailure) async throws {
    try await OwnThread.run {
      let stage = try Stage(loggedIn: false)
      stage.harness.provider.setAccountFailure(failure)
      let refused = stage.call("forgotPassword", #"{"email":"nobody@example.test"}"#)
      stage.harness.provider.setAccountFailure(nil)
      #expect(stage.call("forgotPassword", #"{"email":"a@example.test"}"#) == refused, "\(refused)")
    }
  }

  @Test(arguments: [
    ProviderFailure.transient(.networkUnavailable), .outcomeUnknown(.timeout), .transient(.providerUnavailable),
    .refused(.rateLimited, retryAfter: .seconds(5)), .refused(.captchaRequired), .misconfigured(.client), .unsupported,
  ])
  func `what is said of everyone's request, or went wrong on the way, is told`(
    _ failure: ProviderFailure
  ) async throws {
    try await OwnThread.run {
      let stage = try Stage(loggedIn: false)
      stage.harness.provider.setAccountFailure(failure)
      let answer = stage.call("forgotPassword", #"{"email":"nobody@example.test"}"#)
      #expect(answer.contains(#""kind":"\#(failure.kind.rawValue)""#), "\(answer)")
    }
  }

  @Test func `a backup code stands in for the code, and says how many are left`() async throws {
    try await OwnThread.run {
      let stage = try Stage(loggedIn: false)
      stage.harness.provider.setWantsCode(true)
      _ = stage.call("login", #"{"email":"a@example.test","password":"right"}"#)
      let flow = #""otpFlowId":"handle-1""#
      let refused = stage.call("verifyBackupCode", #"{\#(flow),"backupCode":"wrong"}"#)
      #expect(refused.contains("backupCodeInvalid") && refused.contains(#""attemptsRemaining":4"#))
      let accepted = stage.call("verifyBackupCode", #"{\#(flow),"backupCode":"backup"}"#)
      #expect(accepted.contains(#""status":"authenticated""#) && accepted.contains(#""backupCodesRemaining":9"#))
      #expect(stage.call("verifyBackupCode", #"{\#(flow),"backupCode":"backup"}"#).contains("flowNotFound"))
    }
  }

  @Test func `nothing of it works on a locked vault`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      _ = stage.call("lock")
      for (method, params) in [
        ("forgotPassword", #"{"email":"a"}"#), ("resetPassword", #"{"token":"t","password":"p"}"#),
        ("changePassword", #"{"oldPassword":"a","newPassword":"b"}"#), ("deleteAccount", #"{"password":"p"}"#),
        ("updateProfile", #"{"changes":{"name":"B"}}"#), ("verifyBackupCode", #"{"otpFlowId":"f","backupCode":"b"}"#),
      ] {
        #expect(stage.call(method, params).contains("vaultLocked"), "\(method)")
      }
      #expect(stage.harness.provider.accountCalls.isEmpty)
    }
  }

  @Test func `what was asked for one user's session does nothing to the next one's`() async throws {
    try await OwnThread.run {
      for (method, params) in [
        ("changePassword", #"{"oldPassword":"right","newPassword":"new"}"#),
        ("deleteAccount", #"{"password":"right"}"#),
      ] {
        let stage = try Stage()
        let (provider, store) = (stage.harness.provider, stage.harness.store)
        provider.setGivesNewTokens(true)
        // Another user's login is accepted, and being saved, while the provider does what was asked.
        store.hold()
        provider.setUser("user-2")
        _ = stage.call("login", #"{"email":"b@example.test","password":"right"}"#)
        provider.hold()
        stage.client.send(#"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":\#(params)}"# + "\n")
        store.release()
        // A harness waits for nobody while its provider is held; its tasks queue behind all tests that were begun.
        var lines: [String] = []
        _ = Patience.wait {
          lines = stage.client.lines()
          return !lines.isEmpty
        }
        #expect(lines.first?.contains("authenticated") == true)
        provider.release()
        stage.harness.settle()
        #expect(stage.client.lines().contains { $0.contains(#""id":7,"result":{}"#) })
        #expect(provider.accountCalls == [method])
        #expect(stage.call("getAccessToken").contains("access-2"))
        // The replaced session, and what a changed password has brought for it.
        let revoked = provider.revocationLedger.map(\.token)
        #expect(revoked == (method == "changePassword" ? ["refresh-1", "refresh-3"] : ["refresh-1"]))
      }
    }
  }

  @Test func `after a 403 the provider is asked who the user is, once a minute`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      _ = stage.call("login", LoginStage.credentials)
      _ = stage.events
      for _ in 0..<3 { _ = stage.call("reportRejected", #"{"accessToken":"access-1","status":403}"#) }
      #expect(stage.harness.provider.accountCalls == ["currentUser"])
      #expect(stage.events == ["forbidden", "userUpdated"])
      stage.wait(61)
      _ = stage.call("reportRejected", #"{"accessToken":"access-1","status":403}"#)
      #expect(stage.harness.provider.accountCalls == ["currentUser", "currentUser"])
    }
  }
}
