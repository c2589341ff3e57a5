import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// What a login tells beside its outcome: its client's context, and the use of a backup code.
@Suite(.standardTimeLimit) struct LoginDetailsTests {
  private static func login() -> LoginMachine {
    var challenge = LoginSample.challenge()
    challenge.clientContext = "c"
    var machine = LoginMachine(PendingLogin(challenge: challenge, flow: LoginSample.flowSecret))
    _ = machine.handle(.resumed, at: LoginSample.time(0))
    return machine
  }

  @Test(arguments: [true, false])
  func `a session that came for a backup code says so`(_ isBackupCode: Bool) {
    var machine = Self.login()
    let guess = CodeGuess(CallerID(1), LoginSample.code, isBackupCode: isBackupCode)
    _ = machine.handle(.codeGiven(guess), at: LoginSample.time(1))
    let actions = machine.handle(.codeAccepted(guess: CallerID(1), .given), at: LoginSample.time(2))
    #expect(actions == [.accept(callers: LoginSample.callers(1), usesBackupCode: isBackupCode)])
  }

  @Test func `a challenge keeps its context when another code is sent, and a wrong code is told with it`() {
    var machine = Self.login()
    _ = machine.handle(.resendWanted(caller: CallerID(9)), at: LoginSample.time(31))
    _ = machine.handle(.resent(LoginSample.provided), at: LoginSample.time(32))
    #expect(machine.login.step.clientContext == "c")
    _ = machine.handle(.codeGiven(CodeGuess(CallerID(1), LoginSample.code)), at: LoginSample.time(33))
    let actions = machine.handle(.codeRefused(guess: CallerID(1), .refused(.otpInvalid)), at: LoginSample.time(33))
    let event = EventPayload.loginFailed(LoginFailedEvent(kind: "otpInvalid", clientContext: "c"))
    #expect(actions.last == .keep([event]))
  }

  @Test func `a step has the context of the login that has begun it`() {
    let settings = ProfileSettings(
      name: .default, provider: ScriptedProvider(clock: ManualClock(), gate: GateExecutor { _ in }))
    let slot = ProfileSlot(1, settings, Broker.machine(for: settings, SimulatedEntropy(seed: 1)))
    let action = ProviderUserAction(
      flow: LoginSample.flowSecret, kind: .browser, verificationURI: "https://id.example/",
      expiresAt: LoginSample.start + .seconds(300))
    for answer in [LoginAnswer.code(LoginSample.provided), .action(action)] {
      var attempts = LoginAttempts()
      let plan = LoginAttempt.Plan(clientContext: "c")
      let id = attempts.begin(plan, on: slot, for: CallerID(1), of: .broker)
      guard case .wait(let login, _)? = attempts[id]?.step(after: answer, proof: { _ in .given }, makeID: { "handle" })
      else {
        Issue.record("it does not wait")
        continue
      }
      #expect(login.step.clientContext == "c")
    }
  }

  @Test func `a session is announced with the context, and with the backup code that is used up`() {
    let start = LoginSample.time(0)
    var session = ProviderSession(tokens: ScriptedProvider.tokens(1, now: start.wall), user: User(id: "u"))
    session.backupCodesRemaining = 9
    let login = EventPayload.login(LoginEvent(userID: "u", method: "password", clientContext: "c"))
    let used = EventPayload.backupCodeUsed(BackupCodeUsedEvent(remaining: 9))
    for usesBackupCode in [false, true] {
      let settings = ProfileSettings(
        name: .default, provider: ScriptedProvider(clock: ManualClock(), gate: GateExecutor { _ in }))
      var machine = Broker.machine(for: settings, SimulatedEntropy(seed: 1))
      let details = LoginDetails(clientContext: "c", usesBackupCode: usesBackupCode)
      let actions = machine.handle(.loginAccepted(session, method: "password", details: details), at: start)
      guard case .save(_, let events)? = actions.first else {
        Issue.record("it is not saved")
        continue
      }
      #expect(events == (usesBackupCode ? [login, used] : [login]))
    }
  }
}
