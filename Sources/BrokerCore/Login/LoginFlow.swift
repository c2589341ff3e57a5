package import BrokerProtocol

/// Decides what becomes of one pending login: codes one at a time, questions to the provider at their interval, one end.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state; what comes too late changes nothing,
/// but that a session which no caller waits for any more is revoked.
package struct LoginFlow: Sendable {
  /// What the login waits for.
  package enum Stage: Sendable, Equatable {
    /// A code. Left by a code, the end of the login's time, or an end from outside.
    case awaitingCode
    /// The provider's word on a code. Left by that word, or an end from outside.
    case checkingCode(CodeGuess)
    /// The time of the next question whether the user is done at another device. Left when it has come, when the login's
    /// own time is over, or by an end from outside.
    case resting(until: Duration)
    /// The provider's answer to that question. Left by the answer, or an end from outside.
    case asking
    /// A browser that comes back. Left when it has, when the login's time is over, or by an end from outside.
    case listening
    /// The session to be durable. Left by the broker, which forgets the login then, or by an end from outside.
    case accepting
    /// Nothing. Never left.
    case over
  }

  /// What happened.
  package enum Event: Sendable {
    /// The login was begun, or resumed from the store.
    case resumed
    /// A client has given a code.
    case codeGiven(CodeGuess)
    /// A caller who has given a code waits no longer.
    case callerLeft(UInt64)
    /// The provider has given a session for a code.
    case codeAccepted(guess: UInt64)
    /// The provider has not given one.
    case codeRefused(guess: UInt64, ProviderFailure)
    /// A client wants another code.
    case resendWanted(caller: UInt64)
    /// The provider has sent one.
    case resent(ProviderChallenge)
    /// The provider has not.
    case resendFailed(ProviderFailure)
    /// The user has not done yet what was asked of them.
    case stillPending(slowsDown: Bool)
    /// The user has done it, and there is a session.
    case actionDone
    /// The provider says no, or nothing.
    case actionFailed(ProviderFailure)
    /// The user has done it, and the provider, asked whose session it is, did not say.
    case actionUnproven(ProviderFailure)
    /// A wake-up has come.
    case woken
    /// The login ends for another reason; `isTold` where an event says so.
    case ended(LoginEnd, isTold: Bool)
    /// The broker detaches the login, which goes on when it is resumed.
    case detached(ErrorKind)
  }

  /// What is to be done.
  package enum Action: Sendable, Equatable {
    /// Ask the provider about a code.
    case check(CodeGuess)
    /// Have the provider send another code.
    case resend(caller: UInt64)
    /// Ask the provider whether the user is done.
    case poll
    /// Wait for a browser.
    case listen
    /// Wait for it no longer.
    case stopListening
    /// Tell callers why not.
    case refuse([UInt64], BrokerError)
    /// Make the session durable, and then answer these callers and everybody who waits for the login.
    case accept(callers: [UInt64])
    /// No caller waits for the session: revoke it at the provider.
    case revoke
    /// Make the login as it is now durable, tell of it, and then answer the callers that wanted another code.
    case keep([EventPayload], answering: UInt64? = nil)
    /// Forget the login, here and in the store, and tell everybody who waits for it; `isTold` where an event says so.
    case end(LoginEnd, isTold: Bool)
    /// Forget the login here and leave it in the store; everybody who waits for it is told so.
    case detach(ErrorKind)
  }

  /// More wrong codes than this end the login, whatever the provider says: no user mistypes six digits more often.
  package static let wrongCodeLimit = 5
  /// How many callers may wait with different codes behind the one that is being checked: more are no people.
  static let waitingGuessLimit = 16
  /// The shortest wait that is named after too many wrong codes: no wait at all would be an invitation to go on.
  static let shortestRest = Duration.seconds(1)
  /// How much longer the interval becomes each time that the provider wants it to (RFC 8628, section 3.5).
  static let slowDownStep = Duration.seconds(5)
  /// The longest pause after failures: short beside the minutes that such a login lives.
  static let longestPause = Duration.seconds(60)

  /// The login as it rests.
  package internal(set) var login: PendingLogin
  /// What it waits for.
  package internal(set) var stage: Stage
  /// Codes that wait for their turn.
  var guesses: [CodeGuess] = []
  /// Who waits for another code; nil where none is being sent.
  var resendCaller: UInt64?
  /// When another code may be sent, on both clocks: a clock that is set back keeps no user waiting.
  var resendAt: Deadline?
  /// How many questions in a row have failed.
  var failures = 0

  /// A login that was begun, or rested in the store.
  package init(_ login: PendingLogin) {
    self.login = login
    stage = .over
  }

  /// Takes an event in and says what is to be done, in order.
  package mutating func handle(_ event: Event, at now: Moment) -> [Action] {
    switch event {
    case .resumed: return resume(now)
    case .codeGiven(let guess): return take(guess, now)
    case .callerLeft(let caller): return forget(caller)
    case .codeAccepted(let number): return accept(number)
    case .codeRefused(let number, let failure): return refuse(number, failure, now)
    case .resendWanted(let caller): return wantResend(caller, now)
    case .resent(let challenge): return renew(challenge, now)
    case .resendFailed(let failure): return failResend(failure, now)
    case .stillPending(let slowsDown): return rest(slowsDown, now)
    case .actionDone: return finishAction()
    case .actionFailed(let failure): return failAction(failure, now)
    case .actionUnproven(let failure): return endUnproven(failure)
    case .woken: return wake(now)
    case .ended(let reason, let isTold): return end(reason, isTold: isTold)
    case .detached(let kind): return detach(kind)
    }
  }

  /// When the login wants to be woken; nil where the provider's word comes first.
  package func nextWake(at now: Moment) -> Duration? {
    let end = now.uptime(of: login.expiresAt)
    switch stage {
    case .awaitingCode, .listening: return end
    case .resting(let until): return min(until, end)
    case .checkingCode, .asking, .accepting, .over: return nil
    }
  }

  private mutating func resume(_ now: Moment) -> [Action] {
    guard stage == .over else { return [] }
    switch login.step {
    case .code(let challenge):
      stage = .awaitingCode
      resendAt = now.deadline(challenge.nextResendAt)
      return []
    case .action(let action) where action.kind == .browser:
      stage = .listening
      return [.listen]
    case .action:
      stage = .resting(until: now.uptime + interval)
      return []
    }
  }

  private mutating func wake(_ now: Moment) -> [Action] {
    switch stage {
    case .awaitingCode, .resting, .listening:
      if let actions = endIfOver(now) { return actions }
      guard case .resting(let until) = stage, until <= now.uptime else { return [] }
      stage = .asking
      return [.poll]
    case .checkingCode, .asking, .accepting, .over: return []
    }
  }

  /// Ends the login if its time is over.
  mutating func endIfOver(_ now: Moment) -> [Action]? {
    login.expiresAt <= now.wall ? end(.of(.otpExpired), isTold: true) : nil
  }

  /// Ends the login; callers waiting with a code are told so.
  mutating func end(_ reason: LoginEnd, isTold: Bool) -> [Action] {
    guard stage != .over else { return [] }
    return leave(reason) + [.end(reason, isTold: isTold)]
  }

  private mutating func detach(_ kind: ErrorKind) -> [Action] {
    guard stage != .over else { return [] }
    return leave(.of(kind)) + [.detach(kind)]
  }

  private mutating func leave(_ reason: LoginEnd) -> [Action] {
    var callers: [UInt64] = []
    if case .checkingCode(let guess) = stage { callers += guess.callers }
    callers += guesses.flatMap(\.callers)
    if let resendCaller { callers.append(resendCaller) }
    let wasListening = stage == .listening
    stage = .over
    guesses = []
    resendCaller = nil
    return (wasListening ? [.stopListening] : [])
      + (callers.isEmpty ? [] : [.refuse(callers, reason.error(login.step))])
  }

  /// The error of a kind, about this login's profile.
  func error(_ kind: ErrorKind) -> BrokerError { LoginFlow.error(kind, login.step) }

  /// What is said where a user should have proved who they are, and another one has come.
  static let wrongUser = "The provider logged in a different user; log in as the session's user."

  /// The user has done their part elsewhere: what is refused then is the client, or what it asks for.
  private static func refusedClient(_ step: PendingLoginStep) -> BrokerError {
    var error = BrokerError(
      .providerRejected,
      "The provider rejected the login; check clientId, clientSecret, clientAuth, redirectUri and scopes in the "
        + "configuration.", profile: step.profile)
    error.nextAction = .fixConfig
    return error
  }

  /// What a kind means for the callers waiting for a login.
  package static func error(_ kind: ErrorKind, _ step: PendingLoginStep) -> BrokerError {
    switch kind {
    case .otpExpired where step.action != nil:
      BrokerError(kind, "The login was not finished in time; log in again.", profile: step.profile)
    case .cancelled: BrokerError(kind, "The login was cancelled.", profile: step.profile)
    case .accessDenied: BrokerError(kind, wrongUser, profile: step.profile)
    case .providerRejected where step.action != nil: refusedClient(step)
    default: BrokerError(kind, profile: step.profile)
    }
  }
}
