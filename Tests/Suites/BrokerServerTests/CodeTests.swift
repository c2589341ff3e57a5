import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What becomes of codes: as people type them, lost on the way, or too often wrong.
@Suite(.standardTimeLimit) struct CodeTests {
  private static func stage() throws -> (LoginStage, flow: String) {
    let stage = try LoginStage { $0.setWantsCode(true) }
    let answer = stage.call("login", LoginStage.credentials)
    let parts = answer.split(separator: #""otpFlowId":""#, maxSplits: 1)
    return (stage, try String(#require(parts.last?.split(separator: "\"").first)))
  }

  @Test(arguments: [
    ProviderFailure.outcomeUnknown(.networkUnavailable), .outcomeUnknown(.timeout), .outcomeUnknown(.invalidResponse),
  ])
  func `a lost reply to a code ends the login, and says that the code may be used up`(
    _ failure: ProviderFailure
  ) async throws {
    try await OwnThread.run {
      for (method, member) in [("verifyOtp", "code"), ("verifyBackupCode", "backupCode")] {
        let (stage, flow) = try Self.stage()
        stage.harness.provider.setCodeFailure(failure)
        let params = #"{"otpFlowId":"\#(flow)","\#(member)":"123456"}"#
        let lost = stage.call(method, params)
        #expect(lost.contains(#""kind":"\#(failure.kind.rawValue)","nextAction":"login","retryable":false"#), "\(lost)")
        #expect(lost.contains("may be used up"), "\(lost)")
        // Whoever could not be reached, or not to the end, is out of reach until a call is answered.
        let isOutOfReach = failure == .outcomeUnknown(.networkUnavailable)
        #expect(stage.events == ["otpChallenge"] + (isOutOfReach ? ["networkDown"] : []) + ["loginFailed"])
        stage.harness.provider.setCodeFailure(nil)
        #expect(stage.call(method, params).contains("flowNotFound"))
        #expect(stage.harness.store.pendingLogins.isEmpty)
      }
    }
  }

  @Test func `the end of a login is reported once: by the call that is refused, or by itself`() async throws {
    try await OwnThread.run {
      let reports = { (stage: LoginStage) in
        stage.harness.reports.all.count { if case .loginFailed = $0 { true } else { false } }
      }
      let (refused, flow) = try Self.stage()
      refused.harness.provider.setCodeFailure(.refused(.tooManyAttempts))
      #expect(
        refused.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"123456"}"#).contains("tooManyAttempts"))
      #expect(refused.events.last == "loginFailed" && reports(refused) == 0)
      let (forgotten, _) = try Self.stage()
      forgotten.wait(3600)
      #expect(forgotten.events.last == "loginFailed" && reports(forgotten) == 1)
    }
  }

  @Test func `a failure before the code was sent keeps the login`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.stage()
      stage.harness.provider.setCodeFailure(.transient(.networkUnavailable))
      let params = #"{"otpFlowId":"\#(flow)","code":"123456"}"#
      #expect(stage.call("verifyOtp", params).contains(#""retryable":true"#))
      stage.harness.provider.setCodeFailure(nil)
      #expect(stage.call("verifyOtp", params).contains("authenticated"))
    }
  }

  @Test func `a code that is refused for want of a recent login ends nothing`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.stage()
      stage.harness.provider.setCodeFailure(.refused(.reauthRequired))
      let params = #"{"otpFlowId":"\#(flow)","code":"123456"}"#
      let answer = stage.call("verifyOtp", params)
      #expect(answer.contains("reauthRequired") && !answer.contains("log out"), "\(answer)")
      stage.harness.provider.setCodeFailure(nil)
      #expect(stage.call("verifyOtp", params).contains("authenticated"))
    }
  }

  @Test func `a code that never left is no guess`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.stage()
      stage.harness.provider.setCodeFailure(
        .credentialMissing(MissingCredential("clientSecret", "it is empty", kind: .configInvalid)))
      let params = #"{"otpFlowId":"\#(flow)","code":"123456"}"#
      for number in 1...30 {
        #expect(stage.call("verifyOtp", params).contains("configInvalid"), "\(number)")
        stage.wait(5)
      }
      stage.harness.provider.setCodeFailure(nil)
      #expect(stage.call("verifyOtp", params).contains("authenticated"))
    }
  }

  @Test func `a lost reply to a refresh token that a client gives says the same`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.refreshToken]) }
      stage.harness.provider.setLoginFailure(.outcomeUnknown(.timeout))
      let lost = stage.call("login", #"{"refreshToken":"taken"}"#)
      #expect(lost.contains(#""kind":"timeout","nextAction":"login","retryable":false"#), "\(lost)")
    }
  }

  @Test(arguments: [
    " 123456", "123 456", "123-456", "1-2-3-4-5-6", "123456\\n", "\\t123456", "123\u{2013}456", "123\u{A0}456",
    "123\u{202F}456\u{200B}", "\u{2212}123\u{2010}456", "12\u{AD}3456", "１２３", "123 45６",
  ])
  func `blanks and dashes in a code are ignored, and nothing else`(_ typed: String) async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.stage()
      let answer = stage.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(typed)"}"#)
      let isCode = typed.utf8.filter { (0x30...0x39).contains($0) }.count == 6
      #expect(answer.contains(isCode ? "authenticated" : "otpInvalid"), "\(answer)")
      #expect((stage.harness.provider.codes == ["123456"]) == isCode, "\(stage.harness.provider.codes)")
    }
  }

  @Test func `codes that differ only by blanks and dashes are one code`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.stage()
      let other = try stage.harness.connect()
      stage.harness.provider.hold()
      func line(_ code: String) -> String {
        LoginStage.line("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#)
      }
      #expect(stage.client.ask(line("123 456")).isEmpty && other.ask(line("123-456")).isEmpty)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains("authenticated") == true)
      #expect(other.lines().first?.contains("authenticated") == true)
      #expect(stage.harness.provider.codes == ["123456"])
    }
  }

  @Test func `a backup code is taken without blanks and dashes, and one without anything is no guess`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.stage()
      for (method, member) in [("verifyOtp", "code"), ("verifyBackupCode", "backupCode")] {
        for typed in ["", " - ", "\u{2014}"] {
          let answer = stage.call(method, #"{"otpFlowId":"\#(flow)","\#(member)":"\#(typed)"}"#)
          #expect(answer.contains("Invalid") && answer.contains(#""attemptsRemaining":5"#), "\(answer)")
        }
      }
      #expect(stage.harness.provider.codes.isEmpty && stage.harness.provider.backupCodes.isEmpty)
      let typed = #"{"otpFlowId":"\#(flow)","backupCode":" bac-kup "}"#
      #expect(stage.call("verifyBackupCode", typed).contains("authenticated"))
      #expect(stage.harness.provider.backupCodes == ["backup"])
    }
  }

  @Test(arguments: [
    (ProviderFailure.refused(.otpInvalid, attemptsRemaining: 0), "30"), (.refused(.tooManyAttempts), "30"),
    (.refused(.tooManyAttempts, retryAfter: .seconds(90)), "90"),
    (.refused(.otpInvalid, attemptsRemaining: 0, retryAfter: .seconds(77)), "77"),
  ])
  func `after the last code it is said how long to wait`(_ failure: ProviderFailure, _ seconds: String) async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.stage()
      stage.harness.provider.setWrongCode(failure)
      let answer = stage.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"000000"}"#)
      #expect(answer.contains(#""kind":"tooManyAttempts""#), "\(answer)")
      #expect(answer.contains(#""retryAfterSeconds":\#(seconds)"#), "\(answer)")
    }
  }

  @Test func `a wait after the last code is never none`() async throws {
    try await OwnThread.run {
      let (stage, flow) = try Self.stage()
      stage.wait(60)
      stage.harness.provider.setWrongCode(.refused(.otpInvalid, attemptsRemaining: 0))
      let answer = stage.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"000000"}"#)
      #expect(answer.contains(#""retryAfterSeconds":1"#), "\(answer)")
    }
  }
}
