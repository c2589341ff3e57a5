import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Second factors that wait for their first code.
@Suite(.standardTimeLimit) struct EnrolmentTests {
  /// A logged-in user who enrols an authenticator application; its handle is `handle`.
  private struct Stage {
    let login: LoginStage
    let handle: String

    init(attempts: Int = 5) throws {
      login = try LoginStage { $0.setEnrols(attempts: attempts) }
      _ = login.call("login", LoginStage.credentials)
      handle = try Stage.begin(login)
      _ = login.events
    }

    /// Begins an enrolment, and gives its handle.
    static func begin(_ login: LoginStage) throws -> String {
      let answer = login.call("updateProfile", #"{"changes":{"twoFactor":"totp"}}"#)
      let parts = answer.split(separator: #""otpFlowId":""#, maxSplits: 1)
      return try String(#require(parts.dropFirst().first?.split(separator: "\"").first))
    }

    func verify(_ code: String = "123456") -> String {
      login.call("verifyOtp", #"{"otpFlowId":"\#(handle)","code":"\#(code)"}"#)
    }

    var provider: ScriptedProvider { login.harness.provider }
  }

  @Test func `a change of the second factor comes with its secret, and its first code confirms it`() async throws {
    try await OwnThread.run {
      let login = try LoginStage { $0.setEnrols(attempts: 5) }
      _ = login.call("login", LoginStage.credentials)
      let answer = login.call("updateProfile", #"{"changes":{"twoFactor":"totp"}}"#)
      #expect(answer.contains(#""id":"user-1""#) && answer.contains(#""otpauthUri":"otpauth://totp/a?secret=ABC""#))
      let stage = try Stage()
      let confirmed = stage.verify()
      #expect(confirmed.contains(#""status":"authenticated","session":{"profile":"default""#), "\(confirmed)")
      #expect(stage.provider.codes == ["enrolment 123456"])
      #expect(stage.login.events.isEmpty, "it is no login")
      #expect(stage.verify().contains("flowNotFound") && stage.provider.codes.count == 1)
    }
  }

  @Test(arguments: ["123 456", "123-456", " 123\u{2013}456\u{A0}"])
  func `a code may be typed in groups`(_ code: String) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      #expect(stage.verify(code).contains("authenticated"))
      #expect(stage.provider.codes == ["enrolment 123456"])
    }
  }

  @Test func `an enrolment is no pending login`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      #expect(stage.login.call("listPendingLogins").contains(#""logins":[]"#))
      #expect(stage.login.call("getSession").contains(#""state":"authenticated""#))
      for method in ["resendOtp", "cancelLogin"] {
        #expect(stage.login.call(method, #"{"otpFlowId":"\#(stage.handle)"}"#).contains("flowNotFound"), "\(method)")
      }
      #expect(stage.login.harness.store.pendingLogins.isEmpty)
      #expect(stage.login.harness.broker.assumeIsolated { $0.isBusy }, "another process would not know of it")
      stage.login.wait(600)
      #expect(!stage.login.harness.broker.assumeIsolated { $0.isBusy })
    }
  }

  @Test(arguments: ["logout", "login", "another enrolment", "time", "a refused refresh", "lock"])
  func `an enrolment ends with what it belongs to`(_ end: String) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      switch end {
      case "logout": _ = stage.login.call("logout")
      case "login": _ = stage.login.call("login", LoginStage.credentials)
      case "another enrolment": _ = try Stage.begin(stage.login)
      case "time": stage.login.wait(600)
      case "lock":
        _ = stage.login.call("lock")
        _ = stage.login.call("unlock")
      default:
        stage.provider.setRefresh(.fails(.sessionEnded(.refreshRejected)))
        #expect(stage.login.call("getAccessToken", #"{"forceRefresh":true}"#).contains("sessionExpired"))
      }
      #expect(stage.verify().contains("flowNotFound") && stage.provider.codes.isEmpty)
    }
  }

  @Test(arguments: [(9, 5), (2, 2)])
  func `wrong codes end it, as the provider says or after five`(_ provided: Int, _ most: Int) async throws {
    try await OwnThread.run {
      let stage = try Stage(attempts: provided)
      #expect(stage.verify(" - ").contains(#""attemptsRemaining":\#(most)"#), "nothing is no guess")
      for left in (1..<most).reversed() {
        let refused = stage.verify("000000")
        #expect(refused.contains("otpInvalid") && refused.contains(#""attemptsRemaining":\#(left)"#), "\(refused)")
      }
      let last = stage.verify("000000")
      #expect(last.contains("tooManyAttempts") && last.contains("change twoFactor again"), "\(last)")
      #expect(stage.verify().contains("flowNotFound") && stage.provider.codes.count == most)
    }
  }

  @Test func `what cannot be a code counts only where the provider counts it`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.provider.setEnrolmentFailure(.refused(.otpInvalid, attemptsRemaining: 5))
      for code in ["12345", "1234567", "12345a", "1", "abcdef", "12345"] {
        #expect(stage.verify(code).contains(#""attemptsRemaining":5"#), "\(code)")
      }
      #expect(stage.verify("000000").contains(#""attemptsRemaining":4"#))
    }
  }

  @Test(arguments: [
    (ProviderFailure.refused(.flowNotFound), true), (.refused(.tooManyAttempts), true),
    (.transient(.networkUnavailable), false), (.outcomeUnknown(.timeout), false), (.refused(.otpInvalid), false),
  ])
  func `it ends where the provider knows it no more, and goes on after what passes`(
    _ failure: ProviderFailure, _ ends: Bool
  ) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.provider.setEnrolmentFailure(failure)
      #expect(stage.verify().contains(#""kind":"\#(failure.kind.rawValue)""#))
      stage.provider.setEnrolmentFailure(nil)
      #expect(stage.verify().contains(ends ? "flowNotFound" : "authenticated"))
    }
  }

  @Test func `a logout while the code is on its way leaves no session to answer with`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      let other = try stage.login.harness.connect()
      stage.provider.hold()
      #expect(stage.verify() == "")
      other.send(LoginStage.line("logout") + "\n")
      stage.provider.release()
      stage.login.harness.settle()
      #expect(stage.login.client.lines().first?.contains(#""code":-32800"#) == true)
    }
  }
}
