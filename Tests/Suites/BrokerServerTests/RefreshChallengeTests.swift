import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Providers that answer a refresh with a challenge for a code.
@Suite(.standardTimeLimit) struct RefreshChallengeTests {
  private static func begin(_ store: InMemoryStore, _ clock: ManualClock) throws -> LoginStage {
    let stage = try LoginStage(store: store, clock: clock) { $0.setRefresh(.wantsCode) }
    _ = stage.call("login", LoginStage.credentials)
    _ = stage.events
    return stage
  }

  @Test func `the refresh is sent once, and the challenge waits for its code`() async throws {
    try await OwnThread.run {
      let stage = try Self.begin(InMemoryStore(), ManualClock())
      for _ in 0..<10 {
        let answer = stage.call("getAccessToken", #"{"forceRefresh":true}"#)
        #expect(answer.contains(#""kind":"reauthRequired","nextAction":"verifyOtp""#), "\(answer)")
        #expect(answer.contains(#""challenge":{"otpFlowId""#))
        stage.wait(9)
      }
      #expect(stage.harness.provider.spentTokens == ["refresh-1"])
      #expect(stage.events == ["sessionExpired", "otpChallenge"])
      #expect(stage.call("listPendingLogins").contains(#""maskedDestination":"•••67""#))
      let session = stage.call("getSession")
      #expect(session.contains("challengePending") && session.contains(#""loginRequiredReason":"reauthRequired""#))
      let flow = try Self.flow(stage.call("listPendingLogins"))
      #expect(stage.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"123456"}"#).contains("authenticated"))
      #expect(stage.call("getAccessToken").contains("access-2"))
      #expect(stage.events == ["login"])
    }
  }

  @Test func `the code must bring the same user, also after a restart`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      _ = try Self.begin(store, clock).call("getAccessToken", #"{"forceRefresh":true}"#)
      let stage = try LoginStage(store: store, clock: clock) { $0.setUser("user-2") }
      let flow = try Self.flow(stage.call("listPendingLogins"))
      #expect(stage.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"123456"}"#).contains("accessDenied"))
      #expect(stage.call("getAccessToken").contains("reauthRequired"))
      #expect(stage.harness.provider.revocations == 1)
    }
  }

  /// The handle of the one login that waits.
  private static func flow(_ answer: String) throws -> String {
    let parts = answer.split(separator: #""otpFlowId":""#, maxSplits: 1)
    return try String(#require(parts.last?.split(separator: "\"").first))
  }
}
