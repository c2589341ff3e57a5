import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Users who prove once more who they are, and what wants that.
@Suite(.standardTimeLimit) struct ReauthenticationTests {
  private static func stage(_ methods: [LoginMethod] = [.password, .deviceCode]) throws -> LoginStage {
    let stage = try LoginStage { $0.setLoginMethods(methods) }
    _ = stage.call("login", methods.contains(.password) ? LoginStage.credentials : "{}")
    if !methods.contains(.password) {
      stage.harness.provider.setPolls([.done])
      stage.wait(5)
    }
    _ = stage.events
    return stage
  }

  private static let change = #"{"changes":{"phoneNumber":"+15550100"}}"#

  @Test func `what an account can be taken over with wants a recent proof, and other changes do not`() async throws {
    try await OwnThread.run {
      let stage = try Self.stage()
      #expect(stage.call("updateProfile", Self.change).contains(#""result""#))
      stage.wait(301)
      let refused = stage.call("updateProfile", Self.change)
      #expect(refused.contains(#""code":1005"#) && refused.contains(#""nextAction":"reauthenticate""#))
      #expect(stage.call("updateProfile", #"{"changes":{"name":"B"}}"#).contains(#""result""#))
      let calls = stage.harness.provider.accountCalls.count
      #expect(stage.call("reauthenticate", #"{"password":"wrong"}"#).contains("invalidCredentials"))
      #expect(stage.call("updateProfile", Self.change).contains("reauthRequired"))
      #expect(stage.harness.provider.accountCalls.count == calls)
      #expect(stage.call("reauthenticate", #"{"password":"right"}"#).contains(#""status":"authenticated""#))
      #expect(stage.harness.provider.logins.last == "password a@example.test read fresh")
      #expect(stage.call("updateProfile", Self.change).contains(#""result""#))
      // The session goes on with the new tokens.
      #expect(stage.call("getAccessToken").contains("access-2"))
    }
  }

  @Test func `a code may be wanted, and the session lives until it is right`() async throws {
    try await OwnThread.run {
      let stage = try Self.stage()
      stage.harness.provider.setWantsCode(true)
      let answer = stage.call("reauthenticate", #"{"password":"right"}"#)
      let id = try #require(answer.split(separator: #""otpFlowId":""#).last?.split(separator: "\"").first)
      #expect(stage.call("getAccessToken").contains("access-1"))
      #expect(stage.call("verifyOtp", #"{"otpFlowId":"\#(id)","code":"123456"}"#).contains("authenticated"))
      #expect(stage.call("getAccessToken").contains("access-2"))
      #expect(stage.events == ["otpChallenge", "login"])
    }
  }

  @Test func `another user's session is given back, and the present one goes on`() async throws {
    try await OwnThread.run {
      for wantsCode in [false, true] {
        let stage = try Self.stage()
        stage.harness.provider.setUser("user-2")
        stage.harness.provider.setWantsCode(wantsCode)
        var answer = stage.call("reauthenticate", #"{"password":"right"}"#)
        if wantsCode {
          let id = try #require(answer.split(separator: #""otpFlowId":""#).last?.split(separator: "\"").first)
          answer = stage.call("verifyOtp", #"{"otpFlowId":"\#(id)","code":"123456"}"#)
          #expect(stage.call("listPendingLogins").contains("[]"))
        }
        #expect(answer.contains(#""kind":"accessDenied""#) && answer.contains("a different user"), "\(answer)")
        #expect(stage.harness.provider.revocations == 1)
        #expect(stage.call("getAccessToken").contains("access-1"))
        #expect(stage.call("getSession").contains(#""userId":"user-1""#))
        #expect(stage.events.last == "loginFailed")
      }
    }
  }

  @Test func `another user's session is given back however long its provider is away`() async throws {
    try await OwnThread.run {
      for methods in [[LoginMethod.password], [.deviceCode]] {
        let stage = try Self.stage(methods)
        stage.harness.provider.setUser("user-2")
        stage.harness.provider.setRevocationFailure(.transient(.networkUnavailable))
        if methods == [.password] {
          #expect(stage.call("reauthenticate", #"{"password":"right"}"#).contains("accessDenied"))
        } else {
          _ = stage.call("reauthenticate")
          stage.harness.provider.setPolls([.done])
          stage.wait(5)
        }
        #expect(stage.harness.store.revocations.map(\.userID) == ["user-2"])
        stage.harness.provider.setRevocationFailure(nil)
        stage.wait(300)
        #expect(stage.harness.provider.revocationLedger.last?.token == "refresh-2")
        #expect(stage.harness.store.revocations.isEmpty)
        #expect(stage.call("getSession").contains(#""userId":"user-1""#))
      }
    }
  }

  @Test func `where the session does not say whose it is the provider is asked`() async throws {
    try await OwnThread.run {
      for (user, isSame) in [("user-1", true), ("user-2", false)] {
        let stage = try Self.stage()
        stage.harness.provider.setUser(user, isNamed: false)
        let answer = stage.call("reauthenticate", #"{"password":"right"}"#)
        #expect(answer.contains(isSame ? "authenticated" : "accessDenied"))
        #expect(stage.harness.provider.accountCalls == ["currentUser"])
      }
    }
  }

  @Test(arguments: [
    (ProviderFailure.transient(.networkUnavailable), "networkUnavailable"), (.outcomeUnknown(.timeout), "timeout"),
    (.transient(.providerUnavailable), "providerUnavailable"), (.unsupported, "accessDenied"),
  ])
  func `a provider that cannot say whose session it is has not logged in another user`(
    _ failure: ProviderFailure, _ kind: String
  ) async throws {
    try await OwnThread.run {
      for method in [LoginMethod.password, .deviceCode, .browser] {
        for wantsCode in method == .password ? [false, true] : [false] {
          let stage = try Self.stage([.password])
          stage.harness.provider.setLoginMethods([method])
          stage.harness.provider.setWantsCode(wantsCode)
          stage.harness.provider.setUser("user-1", isNamed: false)
          stage.harness.provider.setAccountFailure(failure)
          let answer = try Self.proof(stage, method, wantsCode: wantsCode)
          #expect(answer.contains("\"kind\":\"\(kind)\""), "\(method), \(answer)")
          #expect(answer.contains("a different user") == (kind == "accessDenied"), "\(answer)")
          #expect(stage.call("listPendingLogins").contains("[]"))
          #expect(stage.events.filter { !$0.hasPrefix("network") }.last == "loginFailed")
          // The session goes on, and the one that came is not left behind at the provider.
          #expect(stage.harness.provider.revocationLedger.map(\.token) == ["refresh-2"])
          stage.harness.provider.setAccountFailure(nil)
          #expect(stage.call("getAccessToken").contains("access-1"))
        }
      }
    }
  }

  @Test func `a provider that wants a more recent login is not one that keeps another user's session`() async throws {
    try await OwnThread.run {
      let stage = try Self.stage()
      stage.harness.provider.setLoginFailure(.refused(.reauthRequired))
      let answer = stage.call("reauthenticate", #"{"password":"right"}"#)
      #expect(answer.contains(#""kind":"reauthRequired","nextAction":"reauthenticate""#), "\(answer)")
      #expect(!answer.contains("log out"), "\(answer)")
    }
  }

  /// Lets the user prove who they are, and gives the last answer.
  private static func proof(_ stage: LoginStage, _ method: LoginMethod, wantsCode: Bool) throws -> String {
    guard method == .password else {
      let flow = try LoginStage.loginFlow(stage.call("reauthenticate"))
      stage.client.send(LoginStage.line("awaitLogin", #"{"loginFlowId":"\#(flow)"}"#, 7) + "\n")
      stage.harness.settle()
      stage.harness.provider.setPolls([.done])
      if method == .browser { stage.harness.provider.redirect() }
      stage.wait(5)
      return stage.client.lines().first ?? ""
    }
    let answer = stage.call("reauthenticate", #"{"password":"right"}"#)
    guard wantsCode else { return answer }
    let id = try #require(answer.split(separator: #""otpFlowId":""#).last?.split(separator: "\"").first)
    return stage.call("verifyOtp", #"{"otpFlowId":"\#(id)","code":"123456"}"#)
  }

  @Test func `without a password the user proves it elsewhere`() async throws {
    try await OwnThread.run {
      let stage = try Self.stage([.deviceCode])
      #expect(stage.call("reauthenticate").contains("userActionRequired"))
      #expect(stage.harness.provider.logins.last == "deviceCode a@example.test read fresh")
      #expect(stage.events == ["loginPending"])
      stage.harness.provider.setUser("user-2")
      stage.harness.provider.setPolls([.done])
      stage.wait(5)
      #expect(stage.events == ["loginFailed"] && stage.harness.provider.revocations == 1)
      #expect(stage.call("getSession").contains(#""userId":"user-1""#))
      #expect(stage.call("reauthenticate", #"{"password":"right"}"#).contains("unsupportedByProvider"))
    }
  }

  @Test func `whose session a pending proof must bring outlives the broker`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try LoginStage(store: store, clock: clock) { _ in }
      _ = first.call("login", LoginStage.credentials)
      first.harness.provider.setWantsCode(true)
      let answer = first.call("reauthenticate", #"{"password":"right"}"#)
      let id = try #require(answer.split(separator: #""otpFlowId":""#).last?.split(separator: "\"").first)
      let second = try LoginStage(store: store, clock: clock) { $0.setUser("user-2") }
      #expect(second.call("verifyOtp", #"{"otpFlowId":"\#(id)","code":"123456"}"#).contains("accessDenied"))
    }
  }

  @Test func `there must be a session, and a way to prove whose it is`() async throws {
    try await OwnThread.run {
      let nobody = try LoginStage { _ in }
      #expect(nobody.call("reauthenticate", #"{"password":"right"}"#).contains("loginRequired"))
      let stage = try Self.stage([.password])
      let refused = stage.call("reauthenticate")
      #expect(refused.contains("missingCredential") && refused.contains(#""pointer":"/password""#))
    }
  }
}
