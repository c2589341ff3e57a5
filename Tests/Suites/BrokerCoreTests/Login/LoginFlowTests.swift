import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// What a pending login decides over several events.
@Suite(.standardTimeLimit) struct LoginFlowTests {
  private static func guess(_ number: UInt64, _ code: String, isBackup: Bool = false) -> LoginFlow.Event {
    .codeGiven(CodeGuess(number, ScriptedProvider.secret(code), isBackupCode: isBackup))
  }

  private static func names(_ actions: [LoginFlow.Action]) -> [String] { actions.map(FlowSample.name) }

  @Test(arguments: [nil, 9, 3])
  func `five wrong codes end the login, whatever the provider counts`(_ counted: Int?) {
    var flow = FlowSample.code()
    for attempt in 1...5 {
      #expect(
        Self.names(flow.handle(Self.guess(UInt64(attempt), "00000\(attempt)"), at: FlowSample.time(1))) == ["check"])
      // The provider's own count goes down with ours, but may begin higher.
      let remaining = counted.map { $0 - attempt + 1 }
      let actions = flow.handle(
        .codeRefused(guess: UInt64(attempt), .refused(.otpInvalid, attemptsRemaining: remaining)),
        at: FlowSample.time(1))
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
      #expect(flow.login.step.challenge?.attemptsRemaining == expected)
    }
    #expect(FlowSample.name(flow.stage) == "over")
  }

  @Test func `wrong codes that a store remembers, backup codes, and those before another code was sent, count`() {
    var flow = FlowSample.code(wrongCodes: 3)
    _ = flow.handle(Self.guess(1, "x", isBackup: true), at: FlowSample.time(1))
    _ = flow.handle(.codeRefused(guess: 1, .refused(.backupCodeInvalid)), at: FlowSample.time(1))
    #expect(flow.login.wrongCodes == 4)
    _ = flow.handle(.resendWanted(caller: 9), at: FlowSample.time(40))
    _ = flow.handle(.resent(FlowSample.provided), at: FlowSample.time(41))
    #expect(flow.login.step.challenge?.attemptsRemaining == 1)
    _ = flow.handle(Self.guess(2, "y"), at: FlowSample.time(42))
    let actions = flow.handle(.codeRefused(guess: 2, .refused(.otpInvalid)), at: FlowSample.time(42))
    #expect(Self.names(actions) == ["refuse tooManyAttempts", "end tooManyAttempts told"])
  }

  @Test func `what cannot be a code is no guess where the provider counts, and is one where it does not`() {
    for (counted, remaining) in [(5, 5), (nil, 4)] {
      var flow = FlowSample.code()
      _ = flow.handle(Self.guess(1, "not it"), at: FlowSample.time(1))
      _ = flow.handle(
        .codeRefused(guess: 1, .refused(.otpInvalid, attemptsRemaining: counted)), at: FlowSample.time(1))
      #expect(flow.login.step.challenge?.attemptsRemaining == remaining)
    }
  }

  @Test func `a passing trouble counts as no wrong code`() {
    var flow = FlowSample.code()
    for failure in [
      ProviderFailure.transient(.networkUnavailable), .refused(.rateLimited),
    ] {
      for _ in 0..<6 {
        _ = flow.handle(Self.guess(1, "123456"), at: FlowSample.time(1))
        _ = flow.handle(.codeRefused(guess: 1, failure), at: FlowSample.time(1))
      }
    }
    #expect(flow.login.wrongCodes == 0 && FlowSample.name(flow.stage) == "awaitingCode")
  }

  @Test func `a lost reply ends the login, for those with other codes too`() {
    var flow = FlowSample.code()
    for number in 1...3 { _ = flow.handle(Self.guess(UInt64(number), "\(number)"), at: FlowSample.time(1)) }
    let actions = flow.handle(.codeRefused(guess: 1, .outcomeUnknown(.timeout)), at: FlowSample.time(2))
    #expect(Self.names(actions) == ["refuse timeout", "end timeout told"])
    guard case .refuse([1, 2, 3], let error)? = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(!error.isRetryable && error.nextAction == .login)
    #expect(FlowSample.name(flow.stage) == "over")
  }

  @Test func `a caller who leaves is forgotten, and a code that was not asked about with the last of them`() {
    var flow = FlowSample.code()
    for (number, code) in [(1, "a"), (2, "a"), (3, "b"), (4, "c"), (5, "c")] {
      _ = flow.handle(Self.guess(UInt64(number), code), at: FlowSample.time(1))
    }
    #expect(flow.callerCount == 5)
    for number in [1, 3, 4] { #expect(flow.handle(.callerLeft(UInt64(number)), at: FlowSample.time(1)).isEmpty) }
    #expect(flow.callerCount == 2)
    let actions = flow.handle(.codeRefused(guess: 1, .refused(.otpInvalid)), at: FlowSample.time(1))
    guard case .refuse([2], _)? = actions.first, case .check(let next)? = actions.last else {
      Issue.record("\(Self.names(actions))")
      return
    }
    #expect(next.callers == [5] && next.number == 4)
  }

  @Test func `codes are tried one at a time, and equal ones share the answer`() {
    var flow = FlowSample.code()
    #expect(Self.names(flow.handle(Self.guess(1, "a"), at: FlowSample.time(1))) == ["check"])
    for (number, code) in [(2, "a"), (3, "b"), (4, "b"), (5, "c")] {
      #expect(flow.handle(Self.guess(UInt64(number), code), at: FlowSample.time(1)).isEmpty)
    }
    let refused = flow.handle(.codeRefused(guess: 1, .refused(.otpInvalid)), at: FlowSample.time(1))
    guard case .refuse([1, 2], _)? = refused.first, case .check(let next)? = refused.last else {
      Issue.record("\(Self.names(refused))")
      return
    }
    #expect(next.callers == [3, 4] && next.number == 3)
    let accepted = flow.handle(.codeAccepted(guess: 3), at: FlowSample.time(1))
    #expect(accepted.first == .accept(callers: [3, 4]))
    guard case .refuse([5], let error)? = accepted.last else {
      Issue.record("the last one was not told")
      return
    }
    #expect(error.kind == .flowNotFound)
    // A second answer to the same code is nobody's.
    #expect(flow.handle(.codeAccepted(guess: 3), at: FlowSample.time(1)) == [.revoke])
  }

  @Test func `a backup code is not the same as a code with the same digits`() {
    var flow = FlowSample.code()
    _ = flow.handle(Self.guess(1, "a"), at: FlowSample.time(1))
    _ = flow.handle(Self.guess(2, "a", isBackup: true), at: FlowSample.time(1))
    let actions = flow.handle(.codeRefused(guess: 1, .refused(.otpInvalid)), at: FlowSample.time(1))
    #expect(Self.names(actions) == ["refuse otpInvalid", "keep loginFailed", "check"])
  }

  @Test func `no more callers wait than are people`() {
    var flow = FlowSample.code()
    for number in 0...16 { _ = flow.handle(Self.guess(UInt64(number), "\(number)"), at: FlowSample.time(1)) }
    #expect(Self.names(flow.handle(Self.guess(99, "99"), at: FlowSample.time(1))) == ["refuse overloaded"])
  }

  @Test func `another code is sent after the cooldown, and one at a time`() {
    var flow = FlowSample.code()
    let early = flow.handle(.resendWanted(caller: 1), at: FlowSample.time(10))
    guard case .refuse([1], let error)? = early.first else {
      Issue.record("\(Self.names(early))")
      return
    }
    #expect(error.kind == .resendTooSoon && error.retryAfter == .seconds(20))
    #expect(flow.handle(.resendWanted(caller: 2), at: FlowSample.time(31)) == [.resend(caller: 2)])
    #expect(Self.names(flow.handle(.resendWanted(caller: 3), at: FlowSample.time(31))) == ["refuse resendTooSoon"])
    #expect(Self.names(flow.handle(.resent(FlowSample.provided), at: FlowSample.time(32))) == ["keep otpResent 2"])
    #expect(flow.login.flow == ScriptedProvider.secret("flow-2"))
    #expect(Self.names(flow.handle(.resendWanted(caller: 4), at: FlowSample.time(33))) == ["refuse resendTooSoon"])
  }

  @Test(arguments: [-100_000, 100_000])
  func `a clock that is set keeps nobody waiting for another code`(_ seconds: Int) {
    func time(_ uptime: Double) -> Moment {
      var moment = FlowSample.time(uptime)
      moment.wall = moment.wall + .seconds(seconds < 0 ? seconds : 40)
      return moment
    }
    var flow = FlowSample.code()
    #expect(Self.names(flow.handle(.resendWanted(caller: 1), at: FlowSample.time(20))) == ["refuse resendTooSoon"])
    #expect(flow.handle(.resendWanted(caller: 2), at: time(31)) == [.resend(caller: 2)])
  }

  @Test func `a provider that wants more time gets it`() {
    var flow = FlowSample.code()
    _ = flow.handle(.resendWanted(caller: 1), at: FlowSample.time(31))
    _ = flow.handle(.resendFailed(.refused(.resendTooSoon, retryAfter: .seconds(60))), at: FlowSample.time(32))
    #expect(Self.names(flow.handle(.resendWanted(caller: 2), at: FlowSample.time(80))) == ["refuse resendTooSoon"])
    #expect(Self.names(flow.handle(.resendWanted(caller: 2), at: FlowSample.time(92))) == ["resend"])
    let ended = flow.handle(.resendFailed(.refused(.flowNotFound)), at: FlowSample.time(93))
    #expect(Self.names(ended) == ["refuse flowNotFound", "end flowNotFound told"])
  }

  @Test(arguments: ["awaitingCode", "resting", "listening"])
  func `a login ends with its time`(_ stage: String) {
    var flow = FlowSample.flow(in: stage)
    #expect(flow.nextWake(at: FlowSample.time(299)) ?? .zero <= FlowSample.time(300).uptime)
    let actions = flow.handle(.woken, at: FlowSample.time(300))
    #expect(Self.names(actions).last == "end otpExpired told")
    #expect(flow.nextWake(at: FlowSample.time(300)) == nil)
  }

  @Test func `what the provider was asked before the end is waited for`() {
    var code = FlowSample.flow(in: "checkingCode")
    #expect(code.handle(.woken, at: FlowSample.time(400)).isEmpty && code.nextWake(at: FlowSample.time(400)) == nil)
    #expect(code.handle(.codeAccepted(guess: 1), at: FlowSample.time(400)) == [.accept(callers: [1])])
    var late = FlowSample.flow(in: "checkingCode")
    let refused = late.handle(.codeRefused(guess: 1, .refused(.otpInvalid)), at: FlowSample.time(400))
    #expect(Self.names(refused) == ["refuse otpInvalid", "keep loginFailed", "end otpExpired told"])
    var device = FlowSample.flow(in: "asking")
    #expect(
      Self.names(device.handle(.stillPending(slowsDown: true), at: FlowSample.time(400))) == ["end otpExpired told"])
  }

  @Test func `a device is asked for at the interval, and slower where the provider says so`() {
    var flow = FlowSample.device()
    #expect(flow.nextWake(at: FlowSample.time(0)) == FlowSample.time(5).uptime)
    #expect(flow.handle(.woken, at: FlowSample.time(4.9)).isEmpty)
    #expect(flow.handle(.woken, at: FlowSample.time(5)) == [.poll])
    #expect(flow.handle(.woken, at: FlowSample.time(6)).isEmpty)
    #expect(flow.handle(.stillPending(slowsDown: false), at: FlowSample.time(7)).isEmpty)
    #expect(flow.nextWake(at: FlowSample.time(7)) == FlowSample.time(12).uptime)
    _ = flow.handle(.woken, at: FlowSample.time(12))
    #expect(Self.names(flow.handle(.stillPending(slowsDown: true), at: FlowSample.time(12))) == ["keep"])
    #expect(flow.nextWake(at: FlowSample.time(12)) == FlowSample.time(22).uptime)
    #expect(flow.login.step.action?.interval == .seconds(10))
  }

  @Test func `a passing trouble doubles the pause up to a minute, and success forgets it`() {
    var flow = FlowSample.device()
    var now = 5.0
    for pause in [10.0, 20, 40, 60, 60] {
      #expect(flow.handle(.woken, at: FlowSample.time(now)) == [.poll])
      #expect(flow.handle(.actionFailed(.transient(.networkUnavailable)), at: FlowSample.time(now)).isEmpty)
      #expect(flow.nextWake(at: FlowSample.time(now)) == FlowSample.time(now + pause).uptime)
      now += pause
    }
    _ = flow.handle(.woken, at: FlowSample.time(now))
    _ = flow.handle(.stillPending(slowsDown: false), at: FlowSample.time(now))
    #expect(flow.nextWake(at: FlowSample.time(now)) == FlowSample.time(now + 5).uptime)
    _ = flow.handle(.woken, at: FlowSample.time(now + 5))
    _ = flow.handle(.actionFailed(.transient(.rateLimited, retryAfter: .seconds(77))), at: FlowSample.time(now + 5))
    #expect(flow.nextWake(at: FlowSample.time(now + 5)) == FlowSample.time(min(now + 82, 300)).uptime)
  }

  @Test(arguments: [
    (ProviderFailure.refused(.consentDenied), ErrorKind.consentDenied), (.refused(.otpExpired), .otpExpired),
    (.sessionEnded(.refreshRejected), .otpExpired), (.unsupported, .unsupportedByProvider),
    (.tokenRefused, .providerRejected), (.refused(.accessDenied), .accessDenied),
    (.misconfigured(.client), .providerRejected), (.misconfigured(.redirectPort), .configInvalid),
    (.refused(.flowNotFound), .providerRejected),
  ])
  func `what does not pass ends the login`(_ failure: ProviderFailure, _ kind: ErrorKind) {
    for stage in ["asking", "listening"] {
      var flow = FlowSample.flow(in: stage)
      #expect(
        Self.names(flow.handle(.actionFailed(failure), at: FlowSample.time(6))).last == "end \(kind.rawValue) told")
    }
  }

  @Test func `a browser comes back once, so that a failure after it is the end`() {
    var flow = FlowSample.browser()
    let actions = flow.handle(.actionFailed(.transient(.networkUnavailable)), at: FlowSample.time(6))
    #expect(Self.names(actions) == ["stopListening", "end networkUnavailable told"])
  }

  @Test func `a wait that was taken back is a login that was replaced, and another one's event tells it`() {
    var flow = FlowSample.browser()
    let actions = flow.handle(.actionFailed(.transient(.cancelled)), at: FlowSample.time(6))
    #expect(actions == [.stopListening, .end(.replaced, isTold: false)])
    // At another device it is only a call that was.
    var device = FlowSample.flow(in: "asking")
    let again = device.handle(.actionFailed(.transient(.cancelled)), at: FlowSample.time(6))
    #expect(again.isEmpty && FlowSample.name(device.stage) == "resting")
  }

  @Test func `a login that is replaced tells whoever has given it a code`() {
    var flow = FlowSample.code()
    _ = flow.handle(.codeGiven(CodeGuess(1, FlowSample.code)), at: FlowSample.time(1))
    let actions = flow.handle(.ended(.replaced, isTold: false), at: FlowSample.time(2))
    guard case .refuse(_, let error)? = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(error.kind == .flowNotFound && error.message.contains("replaced"))
  }

  @Test func `a clock that was set back ends nothing early`() {
    var flow = FlowSample.code()
    let now = Moment(wall: FlowSample.start + .seconds(-3600), uptime: FlowSample.time(10).uptime)
    #expect(flow.handle(.woken, at: now).isEmpty && flow.nextWake(at: now) ?? .zero > now.uptime)
  }
}
