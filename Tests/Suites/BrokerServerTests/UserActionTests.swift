import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Logins whose user does something elsewhere.
@Suite(.standardTimeLimit) struct UserActionTests {
  private static func device(_ polls: [ScriptedProvider.Poll] = []) throws -> LoginStage {
    try LoginStage { provider in
      provider.setLoginMethods([.deviceCode, .password])
      provider.setPolls(polls)
    }
  }

  private static func browser() throws -> LoginStage {
    try LoginStage { $0.setLoginMethods([.browser]) }
  }

  @Test func `a device login is polled for at its interval, and ends with a session`() async throws {
    try await OwnThread.run {
      let stage = try Self.device([.pending(), .pending(slowsDown: true), .done])
      let action = stage.call("login")
      #expect(action.contains(#""status":"userActionRequired""#) && action.contains(#""userCode":"AB-CD""#))
      #expect(action.contains(#""loginFlowId":"handle-"#) && action.contains(#""intervalSeconds":5"#))
      #expect(stage.events == ["loginPending"])
      #expect(stage.call("getSession").contains("challengePending"))
      #expect(stage.harness.provider.pollCount == 0)
      stage.wait(5)
      #expect(stage.harness.provider.pollCount == 1)
      stage.wait(5)
      #expect(stage.harness.provider.pollCount == 2)
      stage.wait(9)
      #expect(stage.harness.provider.pollCount == 2)
      stage.wait(1)
      #expect(stage.harness.provider.pollCount == 3)
      #expect(stage.events == ["login"])
      #expect(stage.call("getAccessToken").contains("access-1"))
      #expect(stage.harness.store.pendingLogins.isEmpty)
      #expect(stage.harness.store.events.last?.payload == .login(LoginEvent(userID: "user-1", method: "deviceCode")))
    }
  }

  @Test func `everybody who waits gets the answer, each within a deadline of their own`() async throws {
    try await OwnThread.run {
      let stage = try Self.device([.pending(), .done])
      let id = try LoginStage.loginFlow(stage.call("login"))
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      let hasty = try stage.harness.connect()
      #expect(hasty.ask(LoginStage.line("awaitLogin", #"{"loginFlowId":"\#(id)","timeoutSeconds":7}"#)).isEmpty)
      stage.wait(5)
      stage.wait(3)
      #expect(hasty.lines().first?.contains("deadlineExceeded") == true)
      stage.wait(2)
      #expect(stage.client.lines().first?.contains(#""status":"authenticated""#) == true)
      // Whoever asks late is told how it ended.
      #expect(hasty.ask(LoginStage.line("awaitLogin", #"{"loginFlowId":"\#(id)"}"#)).first?.contains("user-1") == true)
      #expect(
        hasty.ask(LoginStage.line("awaitLogin", #"{"loginFlowId":"no"}"#)).first?.contains("flowNotFound") == true)
    }
  }

  @Test(arguments: [ErrorKind.consentDenied, .otpExpired])
  func `a refusal ends the login for everybody`(_ kind: ErrorKind) async throws {
    try await OwnThread.run {
      let stage = try Self.device([.fails(.refused(kind))])
      let id = try LoginStage.loginFlow(stage.call("login"))
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      #expect(stage.events == ["loginPending"])
      stage.wait(5)
      #expect(stage.client.lines().first?.contains(#""kind":"\#(kind.rawValue)""#) == true)
      #expect(stage.events == ["loginFailed"])
      #expect(stage.harness.store.pendingLogins.isEmpty)
      #expect(stage.call("getSession").contains("signedOut"))
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#).contains(kind.rawValue))
      stage.wait(60)
      #expect(stage.harness.provider.pollCount == 1)
    }
  }

  @Test func `a network that is away is asked again, less often`() async throws {
    try await OwnThread.run {
      let failure = ScriptedProvider.Poll.fails(.transient(.networkUnavailable))
      let stage = try Self.device([failure, failure, .done])
      _ = stage.call("login")
      stage.wait(5)
      stage.wait(9)
      #expect(stage.harness.provider.pollCount == 1)
      stage.wait(1)
      #expect(stage.harness.provider.pollCount == 2)
      stage.wait(20)
      #expect(stage.events.filter { !$0.hasPrefix("network") } == ["loginPending", "login"])
    }
  }

  @Test func `a login that nobody finishes ends with its time`() async throws {
    try await OwnThread.run {
      let stage = try Self.browser()
      let id = try LoginStage.loginFlow(stage.call("login", #"{"method":"browser"}"#))
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      #expect(stage.harness.provider.listenerCount == 1)
      #expect(stage.harness.broker.assumeIsolated { $0.isBusy })
      stage.wait(600)
      let answer = stage.client.lines().first ?? ""
      #expect(answer.contains(#""kind":"otpExpired""#) && answer.contains("not finished in time"))
      #expect(stage.harness.provider.listenerCount == 0)
      #expect(stage.events == ["loginPending", "loginPending", "loginFailed"])
      #expect(!stage.harness.broker.assumeIsolated { $0.isBusy })
    }
  }

  @Test func `a browser that comes back brings the session, or the reason why not`() async throws {
    try await OwnThread.run {
      for redirect in [ScriptedProvider.Redirect.done, .fails(.refused(.consentDenied))] {
        let stage = try Self.browser()
        let id = try LoginStage.loginFlow(stage.call("login"))
        #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
        stage.harness.provider.redirect(redirect)
        stage.harness.settle()
        let answer = stage.client.lines().first ?? ""
        if case .done = redirect {
          #expect(answer.contains(#""status":"authenticated""#), "\(answer)")
          #expect(stage.events == ["loginPending", "login"])
        } else {
          #expect(answer.contains("consentDenied"), "\(answer)")
          #expect(stage.events == ["loginPending", "loginFailed"])
        }
        #expect(stage.harness.provider.listenerCount == 0)
      }
    }
  }

  @Test func `a login can be cancelled by anybody, durably`() async throws {
    try await OwnThread.run {
      for method in ["deviceCode", "browser"] {
        let stage = try LoginStage { $0.setLoginMethods([.deviceCode, .browser]) }
        let id = try LoginStage.loginFlow(stage.call("login", #"{"method":"\#(method)"}"#))
        #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
        let other = try stage.harness.connect()
        #expect(
          other.ask(LoginStage.line("cancelLogin", #"{"otpFlowId":"\#(id)"}"#)).first?.contains("flowNotFound") == true)
        let done = other.ask(LoginStage.line("cancelLogin", #"{"loginFlowId":"\#(id)"}"#)).first
        #expect(done?.contains(#""result":{}"#) == true)
        #expect(stage.client.lines().first?.contains(#""code":-32800"#) == true)
        #expect(stage.events == ["loginPending", "loginFailed"])
        #expect(stage.harness.store.pendingLogins.isEmpty && stage.harness.provider.listenerCount == 0)
        stage.wait(60)
        #expect(stage.harness.provider.pollCount == 0)
        #expect(
          other.ask(LoginStage.line("cancelLogin", #"{"loginFlowId":"\#(id)"}"#)).first?.contains("flowNotFound")
            == true)
      }
    }
  }

  @Test func `a session that comes after the cancellation is given back`() async throws {
    try await OwnThread.run {
      let stage = try Self.device([.done])
      let id = try LoginStage.loginFlow(stage.call("login"))
      stage.harness.provider.hold()
      stage.wait(5)
      #expect(stage.harness.provider.waitingCalls == 1)
      #expect(stage.call("cancelLogin", #"{"loginFlowId":"\#(id)"}"#).contains(#""result":{}"#))
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.harness.provider.revocations == 1 && stage.harness.store.saveCount == 0)
      #expect(stage.call("getAccessToken").contains("loginRequired"))
    }
  }

  @Test func `just one handle names what is cancelled`() async throws {
    try await OwnThread.run {
      let stage = try Self.device()
      for params in ["{}", #"{"otpFlowId":"a","loginFlowId":"b"}"#] {
        #expect(stage.call("cancelLogin", params).contains(#""pointer":"/loginFlowId""#))
      }
    }
  }

  @Test func `whoever wants a token is told where the user has to go, or gets it when they have been there`()
    async throws
  {
    try await OwnThread.run {
      let stage = try Self.device([.done])
      _ = stage.call("login")
      let refused = stage.call("getAccessToken")
      #expect(refused.contains(#""kind":"challengePending","nextAction":"wait""#))
      #expect(refused.contains(#""action":{"loginFlowId""#) && !refused.contains(#""challenge":{"#))
      #expect(refused.contains("at https://id.example/device with the code AB-CD."))
      #expect(stage.call("getAccessToken", #"{"waitForLogin":true}"#) == "")
      stage.wait(5)
      #expect(stage.client.lines().first?.contains("access-1") == true)
    }
  }

  @Test func `a later login replaces the action, whatever it asks for`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.browser, .password]) }
      let id = try LoginStage.loginFlow(stage.call("login"))
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      let other = try stage.harness.connect()
      let wrong = #"{"email":"a@example.test","password":"wrong"}"#
      #expect(other.ask(LoginStage.line("login", wrong)).first?.contains("invalidCredentials") == true)
      #expect(stage.call("listPendingLogins").contains(id))
      stage.harness.provider.setWantsCode(true)
      #expect(other.ask(LoginStage.line("login", LoginStage.credentials)).first?.contains("otpRequired") == true)
      let ended = stage.client.lines().first ?? ""
      #expect(ended.contains("flowNotFound") && ended.contains("has replaced this one"), "\(ended)")
      #expect(stage.harness.provider.listenerCount == 0 && stage.harness.store.pendingLogins.count == 1)
      let late = stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#)
      #expect(late.contains("flowNotFound") && late.contains("has replaced this one"), "\(late)")
      #expect(stage.call("listPendingLogins").contains("otpFlowId"))
    }
  }

  @Test func `a logout and a profile that goes end what waits`() async throws {
    try await OwnThread.run {
      let stage = try Self.browser()
      let id = try LoginStage.loginFlow(stage.call("login"))
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      let other = try stage.harness.connect()
      _ = other.ask(LoginStage.line("logout"))
      #expect(stage.client.lines().first?.contains("flowNotFound") == true)
      #expect(stage.harness.provider.listenerCount == 0 && stage.harness.store.pendingLogins.isEmpty)
      _ = stage.call("login")
      stage.harness.broker.assumeIsolated { $0.reconfigureSoon([]) }
      stage.harness.settle()
      #expect(stage.harness.provider.listenerCount == 0 && stage.harness.store.pendingLogins.isEmpty)
    }
  }

  @Test func `a client that leaves takes nobody's login with it, and leaves nothing behind`() async throws {
    try await OwnThread.run {
      let stage = try Self.device([.done])
      let id = try LoginStage.loginFlow(stage.call("login"))
      let other = try stage.harness.connect()
      #expect(other.ask(LoginStage.line("awaitLogin", #"{"loginFlowId":"\#(id)"}"#)).isEmpty)
      other.close()
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      #expect(stage.client.ask(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#).count == 1)
      stage.wait(5)
      #expect(stage.events == ["loginPending", "login"] && stage.client.lines().isEmpty)
    }
  }

  @Test func `only a provider whose users do something elsewhere has awaitLogin among its methods`() async throws {
    try await OwnThread.run {
      #expect(try Self.device().call("initialize").contains(#""methods":["awaitLogin","changePassword""#))
      let other = try LoginStage { $0.setLoginMethods([.password]) }
      #expect(other.call("initialize").contains(#""methods":["changePassword""#))
    }
  }

  @Test(arguments: [
    (ProviderFailure.transient(.networkUnavailable), ["networkDown", "loginFailed"]),
    (.refused(.accessDenied), ["loginFailed"]), (.misconfigured(.redirectPort), ["loginFailed"]),
  ])
  func `a browser's login tells of the network where the provider was not reached`(
    _ failure: ProviderFailure, _ events: [String]
  ) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.browser]) }
      _ = stage.call("login")
      _ = stage.events
      stage.harness.provider.redirect(.fails(failure))
      stage.harness.settle()
      #expect(stage.events == events)
      // The next one reaches it.
      _ = stage.call("login")
      stage.harness.provider.redirect()
      stage.harness.settle()
      #expect(stage.events.contains("networkUp") == events.contains("networkDown"))
    }
  }
}
