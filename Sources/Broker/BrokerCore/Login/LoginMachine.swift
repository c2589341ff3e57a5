package import BrokerProtocol

/// Decides the course of one pending login: codes one at a time, polls at their interval, one end.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state; what comes too late changes
/// nothing, but that a session which no caller waits for any more is revoked.
package struct LoginMachine: Sendable {
  /// The state of the login.
  package enum State: Sendable, Equatable {
    /// Its beginning. Left when it begins or is resumed, or by an end from outside.
    case idle
    /// A code. Left by a code, the end of the login's time, or an end from outside.
    case awaitingCode(CodeResend)
    /// The provider's word on a code. Left by that word, or an end from outside.
    case checkingCode(CodeQueue, CodeResend)
    /// The time of the next poll of a device's login, after so many failures in a row. Left when it has come, when the
    /// login's own time is over, or by an end from outside.
    case resting(until: Duration, failures: Int)
    /// The provider's answer to a poll, after so many failures in a row. Left by the answer, or an end from outside.
    case polling(failures: Int)
    /// A browser that comes back. Left when it has, when the login's time is over, or by an end from outside.
    case listening
    /// The session to be durable. Left by the broker, which forgets the login then, or by an end from outside.
    case accepting
    /// Nothing. Never left.
    case over(Ending)
  }

  /// Why a machine is over.
  package enum Ending: Sendable, Equatable {
    /// The login has ended.
    case ended(LoginEnd)
    /// The login rests in the store, and goes on when it is resumed.
    case detached(ErrorKind)
  }

  /// An event that drives the machine.
  package enum Event: Sendable {
    /// The login was begun, or resumed from the store.
    case resumed
    /// A client has given a code.
    case codeGiven(CodeGuess)
    /// A caller that has given a code has left.
    case callerLeft(CallerID)
    /// The provider has given a session for a code.
    case codeAccepted(guess: CallerID, SessionProof)
    /// The provider has not given one.
    case codeRefused(guess: CallerID, ProviderFailure)
    /// A client wants another code.
    case resendWanted(caller: CallerID, channel: OTPChallenge.Method? = nil)
    /// The provider has sent one.
    case resent(ProviderChallenge)
    /// The provider has not.
    case resendFailed(ProviderFailure)
    /// The user has not finished the user action yet.
    case stillPending(slowsDown: Bool)
    /// The user has done it, and there is a session.
    case actionDone(SessionProof)
    /// The provider says no, or nothing.
    case actionFailed(ProviderFailure)
    /// A client has given an address that is not this login's.
    case addressRefused
    /// A wake-up has come.
    case woken
    /// The broker is about to end, and waits for no user any more.
    case brokerEnding
    /// The login ends for another reason; `isTold` where an event says so.
    case ended(LoginEnd, isTold: Bool)
    /// The broker detaches the login, which goes on when it is resumed.
    case detached(ErrorKind)
  }

  /// An action for the runner to carry out.
  package enum Action: Sendable, Equatable {
    /// Ask the provider about a code.
    case check(CodeGuess)
    /// Have the provider send another code.
    case resend(caller: CallerID, channel: OTPChallenge.Method? = nil)
    /// Ask the provider whether the user is done.
    case poll
    /// Wait for a browser.
    case listen
    /// Wait for it no longer.
    case stopListening
    /// Tell callers why not.
    case refuse([CallerID], BrokerError)
    /// Answer the callers that wait for the user with an error; the login goes on.
    case refuseWaiting(ErrorKind)
    /// Make the session durable, and then answer these callers and those that wait for the user; `usesBackupCode` where it
    /// came for a backup code.
    case accept(callers: [CallerID], usesBackupCode: Bool = false)
    /// No caller waits for the session: revoke it at the provider.
    case revoke
    /// Make the login as it is now durable, publish these events, and then answer the caller that wanted another code.
    case keep([EventPayload], answering: CallerID? = nil)
    /// Forget the login, here and in the store, and answer the callers that wait for the user; `isTold` where an event
    /// reports the end.
    case end(LoginEnd, isTold: Bool)
    /// Forget the login here and leave it in the store; the callers that wait for the user get the error.
    case detach(ErrorKind)
  }

  /// The login as it rests.
  package internal(set) var login: PendingLogin
  /// The present state.
  package internal(set) var state = State.idle
  /// When its user is reminded, in uptime; nil where that is not to come.
  var reminder: Duration?

  /// A login that was begun, or rested in the store.
  package init(_ login: PendingLogin) { self.login = login }

  /// Handles an event, and returns the actions in order.
  package mutating func handle(_ event: Event, at now: Moment) -> [Action] {
    switch event {
    case .resumed: return resume(now)
    case .codeGiven(let guess): return take(guess, now)
    case .callerLeft(let caller): return forget(caller)
    case .codeAccepted(let guess, let proof): return accept(guess, proof, now)
    case .codeRefused(let guess, let failure): return refuse(guess, failure, now)
    case .resendWanted(let caller, let channel): return wantResend(caller, by: channel, now)
    case .resent(let challenge): return renew(challenge, now)
    case .resendFailed(let failure): return failResend(failure, now)
    case .stillPending(let slowsDown): return rest(slowsDown, now)
    case .actionDone(let proof): return finishAction(proof, now)
    case .actionFailed(let failure): return failAction(failure, now)
    case .addressRefused: return refuseAddress()
    case .woken: return wake(now)
    case .brokerEnding: return stopWaiting()
    case .ended(let reason, let isTold): return end(reason, isTold: isTold)
    case .detached(let kind): return detach(kind)
    }
  }

  /// When the login wants to be woken; nil where it only waits for an answer of the provider.
  package func nextWake(at now: Moment) -> Duration? {
    let end = now.uptime(of: login.expiresAt)
    switch state {
    case .awaitingCode: return end
    case .listening: return min(end, reminder ?? end)
    case .resting(let until, _): return min(until, end, reminder ?? end)
    case .idle, .checkingCode, .polling, .accepting, .over: return nil
    }
  }

  /// Whether clients may still go on with the login; while the provider's answer is awaited, it has not expired yet.
  func isUsable(at now: Timestamp) -> Bool {
    switch state {
    case .checkingCode, .polling, .accepting: true
    case .idle, .awaitingCode, .resting, .listening: login.expiresAt > now
    case .over: false
    }
  }

  private mutating func resume(_ now: Moment) -> [Action] {
    guard state == .idle else { return [] }
    switch login.step {
    case .code(let challenge):
      state = .awaitingCode(CodeResend(allowedAt: now.deadline(challenge.nextResendAt)))
      return []
    case .action(let action) where action.kind == .browser:
      state = .listening
      planReminder(now)
      return [.listen]
    case .action:
      state = .resting(until: now.uptime + interval, failures: 0)
      planReminder(now)
      return []
    }
  }

  private mutating func wake(_ now: Moment) -> [Action] {
    switch state {
    case .awaitingCode, .resting, .listening:
      if let actions = endIfOver(now) { return actions }
      let reminded = remind(now)
      guard case .resting(let until, let failures) = state, until <= now.uptime else { return reminded }
      state = .polling(failures: failures)
      return reminded + [.poll]
    case .idle, .checkingCode, .polling, .accepting, .over: return []
    }
  }

  /// Ends the login if its time is over.
  mutating func endIfOver(_ now: Moment) -> [Action]? {
    login.expiresAt <= now.wall ? end(.of(.otpExpired), isTold: true) : nil
  }

  /// Ends the login; callers waiting with a code get the error.
  mutating func end(_ reason: LoginEnd, isTold: Bool) -> [Action] {
    if case .over = state { return [] }
    return leave(.ended(reason), reason.error(login.step)) + [.end(reason, isTold: isTold)]
  }

  /// Ends the machine, and leaves the login in the store; callers waiting with a code get the error.
  mutating func detach(_ kind: ErrorKind) -> [Action] {
    if case .over = state { return [] }
    return leave(.detached(kind), error(kind)) + [.detach(kind)]
  }

  private mutating func leave(_ ending: Ending, _ error: BrokerError) -> [Action] {
    defer { state = .over(ending) }
    switch state {
    case .listening: return [.stopListening]
    case .awaitingCode(let resend): return refusal(of: resend.callers, error)
    case .checkingCode(let queue, let resend): return refusal(of: queue.callers + resend.callers, error)
    case .idle, .resting, .polling, .accepting, .over: return []
    }
  }

  /// Tells callers why not, if there are any.
  func refusal(of callers: [CallerID], _ error: BrokerError) -> [Action] {
    callers.isEmpty ? [] : [.refuse(callers, error)]
  }

  /// The error of a kind, about this login's profile.
  func error(_ kind: ErrorKind) -> BrokerError { BrokerError(kind, endOf: login.step) }
}
