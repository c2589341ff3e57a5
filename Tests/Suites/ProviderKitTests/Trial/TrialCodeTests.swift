import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import ProviderKit

/// What a trial makes of a login that wants a one-time code.
@Suite(.standardTimeLimit) struct TrialCodeTests {
  private static let now = Timestamp(milliseconds: 1_800_000_000_000)
  private static let later = now + .seconds(30)

  private static func challenge(_ flow: String = "f1", attempts: Int = 3) -> ProviderChallenge {
    ProviderChallenge(
      flow: ScriptedProvider.secret(flow), method: .sms, maskedDestination: "•••67", otpLength: 6,
      expiresAt: now + .seconds(300), nextResendAt: later, attemptsRemaining: attempts, backupCodesAllowed: true)
  }

  /// A trial whose login wants a code.
  private static func trial(_ abilities: Set<ProviderAbility> = [.resendOtp, .verifyBackupCode]) -> ProviderTrial {
    var subject = ProviderTrial.Subject(
      ScriptedProvider(clock: ManualClock(), gate: GateExecutor { $0() }), SessionRules())
    subject.abilities = abilities
    let credentials = Credentials(email: "a", password: ScriptedProvider.secret("right"))
    var trial = ProviderTrial(subject, credentials)
    _ = trial.begin(at: now)
    _ = trial.take(.login(.success(.otpRequired(challenge()))), at: now)
    return trial
  }

  /// What is to be done next, in a word.
  private static func order(_ trial: ProviderTrial) -> String {
    switch trial.order {
    case .ask(.verify(let flow, let code)), .ask(.verifyBackupCode(let flow, let code)):
      [flow, code].compactMap { $0.revealedString() }.joined(separator: " ")
    case .ask(.resend(let flow)): "resend " + (flow.revealedString() ?? "")
    case .ask: "ask"
    case .awaitCode(let challenge): "await \(challenge.flow.revealedString() ?? "") \(challenge.attemptsRemaining)"
    case .awaitUser: "user"
    case .end: "end"
    }
  }

  private static func code(_ text: String) -> TrialCodeAnswer { .code(ScriptedProvider.secret(text)) }
  private static func backup(_ text: String) -> TrialCodeAnswer { .backupCode(ScriptedProvider.secret(text)) }

  @Test func `another code is asked for at the provider's pace, and answered by its own handle`() {
    var trial = Self.trial()
    let early = trial.enter(.another, at: Self.now)
    #expect(early.map(\.level) == [.note] && early.first?.message.contains("\(Self.later)") == true)
    #expect(Self.order(trial) == "await f1 3")
    #expect(trial.enter(.another, at: Self.later).isEmpty && Self.order(trial) == "resend f1")
    let sent = trial.take(.challenge(.success(Self.challenge("f2", attempts: 5))), at: Self.later)
    #expect(sent.map(\.message) == ["Another code was sent."] && Self.order(trial) == "await f2 5")
    #expect(trial.enter(Self.code("1"), at: Self.later).isEmpty && Self.order(trial) == "f2 1")
  }

  @Test(arguments: [
    (ProviderFailure.refused(.resendTooSoon, retryAfter: .seconds(5)), true), (.transient(.networkUnavailable), true),
    (.unsupported, true), (.refused(.flowNotFound), false), (.refused(.otpExpired), false),
  ])
  func `where no other code was sent the last one is good, unless the login is over`(
    _ failure: ProviderFailure, _ goesOn: Bool
  ) {
    var trial = Self.trial()
    _ = trial.enter(.another, at: Self.later)
    let findings = trial.take(.challenge(.failure(failure)), at: Self.later)
    #expect(findings.first?.level == (goesOn ? .note : .failure))
    #expect(Self.order(trial) == (goesOn ? "await f1 3" : "end"))
  }

  @Test func `a backup code stands in for a code, and wrong ones count alike`() {
    var trial = Self.trial()
    _ = trial.enter(Self.backup("x"), at: Self.now)
    #expect(Self.order(trial) == "f1 x")
    let wrong = trial.take(.session(.failure(.refused(.backupCodeInvalid))), at: Self.now)
    #expect(wrong.map(\.level) == [.note] && Self.order(trial) == "await f1 2")
    _ = trial.enter(Self.code("1"), at: Self.now)
    _ = trial.take(.session(.failure(.refused(.otpInvalid, attemptsRemaining: 1))), at: Self.now)
    #expect(Self.order(trial) == "await f1 1")
    _ = trial.enter(Self.backup("y"), at: Self.now)
    let last = trial.take(.session(.failure(.refused(.backupCodeInvalid))), at: Self.now)
    #expect(last.first?.level == .failure && last.first?.errorKind == .backupCodeInvalid)
    #expect(Self.order(trial) == "end")
  }

  @Test func `what the provider cannot do is said, and the code is waited for still`() {
    var trial = Self.trial([])
    for answer in [TrialCodeAnswer.another, Self.backup("x")] {
      #expect(trial.enter(answer, at: Self.later).map(\.level) == [.note] && Self.order(trial) == "await f1 3")
    }
    _ = trial.stop(at: Self.later)
    #expect(trial.enter(.another, at: Self.later).isEmpty && Self.order(trial) == "end")
  }

  @Test func `of several answers in one request the first is taken`() throws {
    let secret = ScriptedProvider.secret("1")
    func answer(_ code: Secret?, _ backup: Secret?, _ resends: Bool) -> String {
      switch TrialCodeAnswer(.init(trialID: "t", code: code, backupCode: backup, resends: resends)) {
      case .code: "code"
      case .backupCode: "backup"
      case .another: "another"
      case nil: "none"
      }
    }
    #expect(answer(secret, secret, true) == "code" && answer(nil, secret, true) == "backup")
    #expect(answer(nil, nil, true) == "another" && answer(nil, nil, false) == "none")
  }
}
