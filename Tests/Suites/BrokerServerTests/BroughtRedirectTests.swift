import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Logins whose browser runs on another machine: a person brings the address that it ended at.
@Suite(.standardTimeLimit) struct BroughtRedirectTests {
  private static func begin() throws -> (stage: LoginStage, flow: String) {
    let stage = try LoginStage { $0.setLoginMethods([.browser]) }
    return (stage, try LoginStage.loginFlow(stage.call("login")))
  }

  private static func params(_ flow: String, _ address: String) -> String {
    #"{"loginFlowId":"\#(flow)","redirectUrl":"\#(address)"}"#
  }

  @Test func `the address ends the login as the browser would, for everyone who waits`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.begin()
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(flow)"}"#) == "")
      let answers = stage.client.ask(LoginStage.line("completeLogin", Self.params(flow, "right"), 9))
      #expect(answers.count == 2 && answers.allSatisfy { $0.contains(#""status":"authenticated""#) }, "\(answers)")
      #expect(stage.events == ["loginPending", "login"])
      #expect(stage.harness.provider.listenerCount == 0)
      // Who brings it again, or after the browser, is told how the login ended.
      #expect(stage.call("completeLogin", Self.params(flow, "right")).contains("user-1"))
      #expect(stage.call("completeLogin", Self.params("no", "right")).contains("flowNotFound"))
    }
  }

  @Test func `an address of another login changes nothing, and the tenth ends the login`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.begin()
      let kept = stage.harness.store.pendingLogins
      for (index, fault) in (RedirectFault.allCases + RedirectFault.allCases.dropLast()).enumerated() {
        let answer = stage.call("completeLogin", Self.params(flow, "\(fault)"))
        #expect(
          answer.contains(#""kind":"invalidParams""#) && answer.contains(#""pointer":"/redirectUrl""#), "\(answer)")
        #expect(answer.contains(#""attemptsRemaining":\#(9 - index),"#), "\(answer)")
        #expect(answer.contains(#""message":"This "#) && !answer.contains("\(fault)"), "\(answer)")
      }
      #expect(stage.events == ["loginPending"] && stage.harness.store.pendingLogins == kept)
      #expect(stage.harness.provider.listenerCount == 1)
      #expect(stage.call("completeLogin", Self.params(flow, "otherLogin")).contains("tooManyAttempts"))
      #expect(stage.events == ["loginFailed"])
      #expect(stage.harness.provider.listenerCount == 0 && stage.harness.store.pendingLogins.isEmpty)
      #expect(stage.call("completeLogin", Self.params(flow, "right")).contains("tooManyAttempts"))
    }
  }

  @Test func `only the connection that began the login completes it, or one that has proven access`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.begin()
      let other = try stage.harness.connect()
      let line = LoginStage.line("completeLogin", Self.params(flow, "right"))
      let refused = other.askBare(line).first ?? ""
      #expect(refused.contains(#""kind":"reauthRequired""#) && refused.contains(#""proof":{"path":"#), "\(refused)")
      #expect(stage.events == ["loginPending"])
      other.prove()
      #expect(other.ask(line).first?.contains(#""status":"authenticated""#) == true)
    }
  }

  @Test func `a login at another device has no address to bring`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.deviceCode]) }
      let flow = try LoginStage.loginFlow(stage.call("login"))
      #expect(stage.call("completeLogin", Self.params(flow, "right")).contains("flowNotFound"))
    }
  }
}
