import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// What a pending login decides over several events.
@Suite(.standardTimeLimit) struct LoginMachineTests {
  private static func guess(_ number: UInt64, _ code: String, isBackup: Bool = false) -> LoginMachine.Event {
    .codeGiven(CodeGuess(CallerID(number), ScriptedProvider.secret(code), isBackupCode: isBackup))
  }

  private static func names(_ actions: [LoginMachine.Action]) -> [String] { actions.map(LoginSample.name) }

  @Test(arguments: [nil, 9, 3])
  func `five wrong codes end the login, whatever the provider counts`(_ counted: Int?) {
    var machine = LoginSample.code()
    for attempt in 1...5 {
      #expect(
        Self.names(machine.handle(Self.guess(UInt64(attempt), "00000\(attempt)"), at: LoginSample.time(1))) == ["check"]
      )
      // The provider's own count goes down with ours, but may begin higher.
      let remaining = counted.map { $0 - attempt + 1 }
      let actions = machine.handle(
        .codeRefused(guess: CallerID(UInt64(attempt)), .refused(.otpInvalid, attemptsRemaining: remaining)),
        at: LoginSample.time(1))
      let isLast = attempt == 5 || remaining == 0
      guard !isLast else {
        #expect(Self.names(actions) == ["refuse tooManyAttempts", "end tooManyAttempts told"])
        break
      }
      let expected = min(remaining ?? .max, 5 - attempt)
      guard case .refuse(_, let error)? = actions.first else {
        Issue.record("nobody was told")
        return
      }
      #expect(error.kind == .otpInvalid && error.attemptsRemaining == expected)
      #expect(machine.login.step.challenge?.attemptsRemaining == expected)
    }
    #expect(LoginSample.name(machine.state) == "over")
  }

  @Test func `wrong codes that a store remembers, backup codes, and those before another code was sent, count`() {
    var machine = LoginSample.code(wrongCodes: 3)
    _ = machine.handle(Self.guess(1, "x", isBackup: true), at: LoginSample.time(1))
    _ = machine.handle(.codeRefused(guess: CallerID(1), .refused(.backupCodeInvalid)), at: LoginSample.time(1))
    #expect(machine.login.wrongCodes == 4)
    _ = machine.handle(.resendWanted(caller: CallerID(9)), at: LoginSample.time(40))
    _ = machine.handle(.resent(LoginSample.provided), at: LoginSample.time(41))
    #expect(machine.login.step.challenge?.attemptsRemaining == 1)
    _ = machine.handle(Self.guess(2, "y"), at: LoginSample.time(42))
    let actions = machine.handle(.codeRefused(guess: CallerID(2), .refused(.otpInvalid)), at: LoginSample.time(42))
    #expect(Self.names(actions) == ["refuse tooManyAttempts", "end tooManyAttempts told"])
  }

  @Test func `what cannot be a code is no guess where the provider counts, and is one where it does not`() {
    for (counted, remaining) in [(5, 5), (nil, 4)] {
      var machine = LoginSample.code()
      _ = machine.handle(Self.guess(1, "not it"), at: LoginSample.time(1))
      _ = machine.handle(
        .codeRefused(guess: CallerID(1), .refused(.otpInvalid, attemptsRemaining: counted)), at: LoginSample.time(1))
      #expect(machine.login.step.challenge?.attemptsRemaining == remaining)
    }
  }

  @Test func `a provider that wants to be left alone for a while keeps the login`() {
    var machine = LoginSample.code()
    _ = machine.handle(Self.guess(1, "123456"), at: LoginSample.time(1))
    let busy = ProviderFailure.refused(.tooManyAttempts, retryAfter: .seconds(20))
    let actions = machine.handle(.codeRefused(guess: CallerID(1), busy), at: LoginSample.time(1))
    guard case .refuse(_, let error)? = actions.first else { return #expect(Bool(false)) }
    #expect(error.kind == .tooManyAttempts && error.retryAfter == .seconds(20))
    #expect(LoginSample.name(machine.state) == "awaitingCode" && machine.login.wrongCodes == 0)
    for last in [
      ProviderFailure.refused(.tooManyAttempts),
      .refused(.tooManyAttempts, attemptsRemaining: 0, retryAfter: .seconds(20)),
      .refused(.tooManyAttempts, retryAfter: .seconds(3600)),
    ] {
      var machine = LoginSample.code()
      _ = machine.handle(Self.guess(1, "123456"), at: LoginSample.time(1))
      _ = machine.handle(.codeRefused(guess: CallerID(1), last), at: LoginSample.time(1))
      #expect(LoginSample.name(machine.state) == "over")
    }
  }

  @Test func `a passing trouble counts as no wrong code`() {
    var machine = LoginSample.code()
    for failure in [
      ProviderFailure.transient(.networkUnavailable), .refused(.rateLimited),
    ] {
      for _ in 0..<6 {
        _ = machine.handle(Self.guess(1, "123456"), at: LoginSample.time(1))
        _ = machine.handle(.codeRefused(guess: CallerID(1), failure), at: LoginSample.time(1))
      }
    }
    #expect(machine.login.wrongCodes == 0 && LoginSample.name(machine.state) == "awaitingCode")
  }

  @Test func `a lost reply ends the login, for those with other codes too`() {
    var machine = LoginSample.code()
    for number in 1...3 { _ = machine.handle(Self.guess(UInt64(number), "\(number)"), at: LoginSample.time(1)) }
    let actions = machine.handle(.codeRefused(guess: CallerID(1), .outcomeUnknown(.timeout)), at: LoginSample.time(2))
    #expect(Self.names(actions) == ["refuse timeout", "end timeout told"])
    guard case .refuse(LoginSample.callers(1, 2, 3), let error)? = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(!error.isRetryable && error.nextAction == .login)
    #expect(LoginSample.name(machine.state) == "over")
  }

  @Test func `a caller who leaves is forgotten, and a code that was not asked about with the last of them`() {
    var machine = LoginSample.code()
    for (number, code) in [(1, "a"), (2, "a"), (3, "b"), (4, "c"), (5, "c")] {
      _ = machine.handle(Self.guess(UInt64(number), code), at: LoginSample.time(1))
    }
    #expect(machine.callerCount == 5)
    for number in [1, 3, 4] {
      #expect(machine.handle(.callerLeft(CallerID(UInt64(number))), at: LoginSample.time(1)).isEmpty)
    }
    #expect(machine.callerCount == 2)
    let actions = machine.handle(.codeRefused(guess: CallerID(1), .refused(.otpInvalid)), at: LoginSample.time(1))
    guard case .refuse(LoginSample.callers(2), _)? = actions.first, case .check(let next)? = actions.last else {
      Issue.record("\(Self.names(actions))")
      return
    }
    #expect(next.callers == LoginSample.callers(5) && next.id == CallerID(4))
  }

  @Test func `codes are tried one at a time, and equal ones share the answer`() {
    var machine = LoginSample.code()
    #expect(Self.names(machine.handle(Self.guess(1, "a"), at: LoginSample.time(1))) == ["check"])
    for (number, code) in [(2, "a"), (3, "b"), (4, "b"), (5, "c")] {
      #expect(machine.handle(Self.guess(UInt64(number), code), at: LoginSample.time(1)).isEmpty)
    }
    let refused = machine.handle(.codeRefused(guess: CallerID(1), .refused(.otpInvalid)), at: LoginSample.time(1))
    guard case .refuse(LoginSample.callers(1, 2), _)? = refused.first, case .check(let next)? = refused.last else {
      Issue.record("\(Self.names(refused))")
      return
    }
    #expect(next.callers == LoginSample.callers(3, 4) && next.id == CallerID(3))
    let accepted = machine.handle(.codeAccepted(guess: CallerID(3), .given), at: LoginSample.time(1))
    #expect(accepted.first == .accept(callers: LoginSample.callers(3, 4)))
    guard case .refuse(LoginSample.callers(5), let error)? = accepted.last else {
      Issue.record("the last one was not told")
      return
    }
    #expect(error.kind == .flowNotFound)
    // A second answer to the same code is nobody's.
    #expect(machine.handle(.codeAccepted(guess: CallerID(3), .given), at: LoginSample.time(1)) == [.revoke])
  }

  @Test func `a backup code is not the same as a code with the same digits`() {
    var machine = LoginSample.code()
    _ = machine.handle(Self.guess(1, "a"), at: LoginSample.time(1))
    _ = machine.handle(Self.guess(2, "a", isBackup: true), at: LoginSample.time(1))
    let actions = machine.handle(.codeRefused(guess: CallerID(1), .refused(.otpInvalid)), at: LoginSample.time(1))
    #expect(Self.names(actions) == ["refuse otpInvalid", "keep loginFailed", "check"])
  }

  @Test func `no more callers wait than are people`() {
    var machine = LoginSample.code()
    for number in 0...16 { _ = machine.handle(Self.guess(UInt64(number), "\(number)"), at: LoginSample.time(1)) }
    #expect(Self.names(machine.handle(Self.guess(99, "99"), at: LoginSample.time(1))) == ["refuse overloaded"])
  }

  @Test func `another code is sent after the cooldown, and one at a time`() {
    var machine = LoginSample.code()
    let early = machine.handle(.resendWanted(caller: CallerID(1)), at: LoginSample.time(10))
    guard case .refuse(LoginSample.callers(1), let error)? = early.first else {
      Issue.record("\(Self.names(early))")
      return
    }
    #expect(error.kind == .resendTooSoon && error.retryAfter == .seconds(20))
    #expect(
      machine.handle(.resendWanted(caller: CallerID(2)), at: LoginSample.time(31)) == [.resend(caller: CallerID(2))])
    #expect(
      Self.names(machine.handle(.resendWanted(caller: CallerID(3)), at: LoginSample.time(31))) == [
        "refuse resendTooSoon"
      ])
    #expect(Self.names(machine.handle(.resent(LoginSample.provided), at: LoginSample.time(32))) == ["keep otpResent 2"])
    #expect(machine.login.flow == ScriptedProvider.secret("flow-2"))
    #expect(
      Self.names(machine.handle(.resendWanted(caller: CallerID(4)), at: LoginSample.time(33))) == [
        "refuse resendTooSoon"
      ])
  }

  @Test func `another code goes by a channel of the challenge alone`() {
    var machine = LoginSample.code()
    let refused = machine.handle(.resendWanted(caller: CallerID(1), channel: .email), at: LoginSample.time(31))
    guard case .refuse(LoginSample.callers(1), let error)? = refused.first else {
      Issue.record("\(Self.names(refused))")
      return
    }
    #expect(error.kind == .invalidParams && error.pointer == "/channel")
    #expect(
      machine.handle(.resendWanted(caller: CallerID(2), channel: .sms), at: LoginSample.time(31)) == [
        .resend(caller: CallerID(2), channel: .sms)
      ])
    var provided = LoginSample.provided
    provided.channels = [.sms, .email]
    _ = machine.handle(.resent(provided), at: LoginSample.time(32))
    #expect(machine.login.step.challenge?.channels == [.sms, .email])
    #expect(
      machine.handle(.resendWanted(caller: CallerID(3), channel: .email), at: LoginSample.time(91)) == [
        .resend(caller: CallerID(3), channel: .email)
      ])
  }

  @Test(arguments: [-100_000, 100_000])
  func `a clock that is set keeps nobody waiting for another code`(_ seconds: Int) {
    func time(_ uptime: Double) -> Moment {
      var moment = LoginSample.time(uptime)
      moment.wall = moment.wall + .seconds(seconds < 0 ? seconds : 40)
      return moment
    }
    var machine = LoginSample.code()
    #expect(
      Self.names(machine.handle(.resendWanted(caller: CallerID(1)), at: LoginSample.time(20))) == [
        "refuse resendTooSoon"
      ])
    #expect(machine.handle(.resendWanted(caller: CallerID(2)), at: time(31)) == [.resend(caller: CallerID(2))])
  }

  @Test func `a provider that wants more time gets a minute at most`() {
    var machine = LoginSample.code()
    _ = machine.handle(.resendWanted(caller: CallerID(1)), at: LoginSample.time(31))
    _ = machine.handle(.resendFailed(.refused(.resendTooSoon, retryAfter: .seconds(86_400))), at: LoginSample.time(32))
    #expect(
      Self.names(machine.handle(.resendWanted(caller: CallerID(2)), at: LoginSample.time(80))) == [
        "refuse resendTooSoon"
      ])
    #expect(Self.names(machine.handle(.resendWanted(caller: CallerID(2)), at: LoginSample.time(92))) == ["resend"])
    let ended = machine.handle(.resendFailed(.refused(.flowNotFound)), at: LoginSample.time(93))
    #expect(Self.names(ended) == ["refuse flowNotFound", "end flowNotFound told"])
  }

  @Test(arguments: ["awaitingCode", "resting", "listening"])
  func `a login ends with its time`(_ state: String) {
    var machine = LoginSample.machine(in: state)
    #expect(machine.nextWake(at: LoginSample.time(299)) ?? .zero <= LoginSample.time(300).uptime)
    let actions = machine.handle(.woken, at: LoginSample.time(300))
    #expect(Self.names(actions).last == "end otpExpired told")
    #expect(machine.nextWake(at: LoginSample.time(300)) == nil)
  }

  @Test func `what the provider was asked before the end is waited for`() {
    var code = LoginSample.machine(in: "checkingCode")
    #expect(code.handle(.woken, at: LoginSample.time(400)).isEmpty && code.nextWake(at: LoginSample.time(400)) == nil)
    #expect(
      code.handle(.codeAccepted(guess: CallerID(1), .given), at: LoginSample.time(400)) == [
        .accept(callers: LoginSample.callers(1))
      ])
    var late = LoginSample.machine(in: "checkingCode")
    let refused = late.handle(.codeRefused(guess: CallerID(1), .refused(.otpInvalid)), at: LoginSample.time(400))
    #expect(Self.names(refused) == ["refuse otpInvalid", "keep loginFailed", "end otpExpired told"])
    var device = LoginSample.machine(in: "polling")
    #expect(
      Self.names(device.handle(.stillPending(slowsDown: true), at: LoginSample.time(400))) == ["end otpExpired told"])
  }

  @Test func `a login that is replaced tells whoever has given it a code`() {
    var machine = LoginSample.code()
    _ = machine.handle(.codeGiven(CodeGuess(CallerID(1), LoginSample.code)), at: LoginSample.time(1))
    let actions = machine.handle(.ended(.replaced, isTold: false), at: LoginSample.time(2))
    guard case .refuse(_, let error)? = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(error.kind == .flowNotFound && error.message.contains("replaced"))
  }

  @Test func `a clock that was set back ends nothing early`() {
    var machine = LoginSample.code()
    let now = Moment(wall: LoginSample.start + .seconds(-3600), uptime: LoginSample.time(10).uptime)
    #expect(machine.handle(.woken, at: now).isEmpty && machine.nextWake(at: now) ?? .zero > now.uptime)
  }
}
