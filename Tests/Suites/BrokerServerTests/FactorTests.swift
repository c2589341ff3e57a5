import BrokerCore
import BrokerProtocol
import JSON
import TestSupport
import Testing

/// Backup codes that are made and used, and what is counted of codes.
@Suite(.standardTimeLimit) struct FactorTests {
  private static func counter(_ name: String, _ stage: LoginStage) throws -> Int64? {
    let status = try JSONDocument(parsing: Array(stage.call("getStatus").utf8)).root
    return try status.required("result").required("counters")[name]?.integer()
  }

  @Test func `backup codes are made for a user who gives the password`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      #expect(stage.call("generateBackupCodes", #"{"password":"right"}"#).contains("loginRequired"))
      _ = stage.call("login", LoginStage.credentials)
      #expect(stage.call("generateBackupCodes", "{}").contains(#""pointer":"/password""#))
      #expect(stage.call("generateBackupCodes", #"{"password":"wrong"}"#).contains("invalidCredentials"))
      let made = stage.call("generateBackupCodes", #"{"password":"right"}"#)
      #expect(made.contains(#""result":{"backupCodes":["backup-1","backup-2"]}"#), "\(made)")
      #expect(stage.call("initialize").contains(#""generateBackupCodes","#))
    }
  }

  @Test(arguments: [true, false])
  func `a login by backup code is told, and how many are left`(_ usesBackupCode: Bool) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(true) }
      _ = stage.call("login", LoginStage.credentials)
      _ = stage.watcher.lines()
      let answer =
        usesBackupCode
        ? stage.call("verifyBackupCode", #"{"otpFlowId":"handle-1","backupCode":"back up"}"#)
        : stage.call("verifyOtp", #"{"otpFlowId":"handle-1","code":"123-456"}"#)
      #expect(answer.contains("authenticated"))
      let lines = stage.watcher.lines()
      #expect(lines.first?.contains(#""event":"login""#) == true && lines.count == (usesBackupCode ? 2 : 1))
      guard usesBackupCode else { return }
      #expect(lines.last?.contains(#""event":"backupCodeUsed""#) == true)
      #expect(lines.last?.contains(#""data":{"remaining":9}"#) == true)
    }
  }

  @Test func `codes that are sent, sent again and refused for good are counted`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(true) }
      for name in ["otpSent", "otpResent", "lockouts"] { #expect(try Self.counter(name, stage) == 0, "\(name)") }
      _ = stage.call("login", LoginStage.credentials)
      stage.wait(30)
      _ = stage.call("resendOtp", #"{"otpFlowId":"handle-1"}"#)
      #expect(try Self.counter("otpSent", stage) == 1 && Self.counter("otpResent", stage) == 1)
      stage.harness.provider.setCodeFailure(.refused(.tooManyAttempts))
      _ = stage.call("verifyOtp", #"{"otpFlowId":"handle-1","code":"123456"}"#)
      stage.harness.provider.setLoginFailure(.refused(.accountLocked))
      _ = stage.call("login", LoginStage.credentials)
      stage.harness.provider.setLoginFailure(.refused(.invalidCredentials))
      _ = stage.call("login", LoginStage.credentials)
      #expect(try Self.counter("lockouts", stage) == 2)
    }
  }
}
