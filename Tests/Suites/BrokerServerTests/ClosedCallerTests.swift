import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Callers whose connection was closed: nothing is kept of them, and what they have begun goes on.
@Suite(.standardTimeLimit) struct ClosedCallerTests {
  private static func waiting(_ stage: LoginStage) -> Int {
    stage.harness.broker.assumeIsolated { $0.waitingCallerCount }
  }

  @Test func `callers of a shared login are forgotten when they go`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      stage.harness.provider.hold()
      for _ in 0..<200 {
        let client = try stage.harness.connect()
        client.send((1...5).map { LoginStage.line("login", LoginStage.credentials, $0) + "\n" }.joined())
        client.close()
      }
      #expect(Self.waiting(stage) == 0 && stage.harness.provider.waitingCalls == 1)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.call("getSession").contains("authenticated"), "who goes has not changed its mind")
      #expect(stage.harness.provider.logins.count == 1 && stage.harness.provider.revocations == 0)
    }
  }

  @Test func `callers with a code are, too`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(true) }
      let answer = stage.call("login", LoginStage.credentials)
      let parts = answer.split(separator: #""otpFlowId":""#, maxSplits: 1)
      let flow = try String(#require(parts.last?.split(separator: "\"").first))
      stage.harness.provider.hold()
      for _ in 0..<20 {
        let client = try stage.harness.connect()
        client.send(LoginStage.line("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"123456"}"#) + "\n")
        client.close()
      }
      #expect(Self.waiting(stage) == 0)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.call("getSession").contains("authenticated") && stage.harness.provider.codes == ["123456"])
    }
  }

  @Test func `one who stays is answered, and one who cancels after all others have gone ends nothing`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      let other = try stage.harness.connect()
      stage.harness.provider.hold()
      other.send(LoginStage.line("login", LoginStage.credentials) + "\n")
      #expect(stage.call("login", LoginStage.credentials) == "")
      other.close()
      #expect(stage.client.ask(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#).count == 1)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.call("getSession").contains("authenticated") && stage.harness.provider.revocations == 0)
    }
  }
}
