import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What is said of a login that comes to nothing after its user was sent elsewhere.
@Suite(.standardTimeLimit) struct UserActionEndTests {
  @Test func `a wait that the provider has taken back itself is one that another login has replaced`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.browser]) }
      let id = try LoginStage.loginFlow(stage.call("login"))
      #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
      stage.harness.provider.redirect(.fails(.transient(.cancelled)))
      stage.harness.settle()
      let ended = stage.client.lines().first ?? ""
      #expect(ended.contains("flowNotFound") && ended.contains("has replaced this one"), "\(ended)")
      #expect(stage.events == ["loginPending"], "the login that has replaced it tells so")
    }
  }

  @Test(arguments: ConfigurationFault.allCases)
  func `what the provider finds wrong in the configuration is said after the user's part as before it`(
    _ fault: ConfigurationFault
  ) async throws {
    try await OwnThread.run {
      for method in ["browser", "deviceCode"] {
        let stage = try LoginStage { provider in
          provider.setLoginMethods([.browser, .deviceCode])
          provider.setPolls([.fails(.misconfigured(fault))])
        }
        let id = try LoginStage.loginFlow(stage.call("login", #"{"method":"\#(method)"}"#))
        #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
        stage.harness.provider.redirect(.fails(.misconfigured(fault)))
        stage.wait(5)
        let late = stage.client.lines() + [stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#)]
        #expect(late.count == 2)
        for answer in late {
          let next = fault.needsLogin ? "login" : "fixConfig"
          #expect(answer.contains(fault.message) && answer.contains(#""nextAction":"\#(next)""#), "\(answer)")
        }
      }
    }
  }

  @Test func `a code that the provider does not take wants another login, and nothing of the configuration`()
    async throws
  {
    try await OwnThread.run {
      for method in ["browser", "deviceCode"] {
        let stage = try LoginStage { provider in
          provider.setLoginMethods([.browser, .deviceCode])
          provider.setPolls([.fails(.refused(.flowNotFound))])
        }
        let id = try LoginStage.loginFlow(stage.call("login", #"{"method":"\#(method)"}"#))
        #expect(stage.call("awaitLogin", #"{"loginFlowId":"\#(id)"}"#) == "")
        stage.harness.provider.redirect(.fails(.refused(.flowNotFound)))
        stage.wait(5)
        let answer = stage.client.lines().first ?? ""
        #expect(answer.contains(#""kind":"providerRejected","nextAction":"login""#), "\(answer)")
        let code = method == "browser" ? "authorization code" : "device code"
        #expect(answer.contains("rejected the \(code)"), "\(answer)")
        #expect(stage.events == ["loginPending", "loginFailed"])
      }
    }
  }
}
