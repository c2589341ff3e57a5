import BrokerProtocol
import SecretMemory

/// Checking of codes.
extension LoginMachine {
  /// The number of wrong codes that end the login, whatever the provider says: no user mistypes six digits more often.
  package static let wrongCodeLimit = 5
  /// The shortest wait after too many wrong codes: no wait at all would be an invitation to go on.
  private static let shortestRest = Duration.seconds(1)

  /// Takes a code: one is checked at a time, another one waits for its turn, and an equal one shares the answer.
  mutating func take(_ guess: CodeGuess, _ now: Moment) -> [Action] {
    switch state {
    case .awaitingCode(let resend):
      if let actions = endIfOver(now) { return [.refuse(guess.callers, error(.flowNotFound))] + actions }
      guard guess.code.byteCount > 0 else { return [.refuse(guess.callers, nothingGiven(guess))] }
      return check(CodeQueue(guess), resend)
    case .checkingCode(var queue, let resend):
      guard guess.code.byteCount > 0 else { return [.refuse(guess.callers, nothingGiven(guess))] }
      guard queue.add(guess) else {
        let message = "Too many codes are being checked; try again."
        return [.refuse(guess.callers, BrokerError(.overloaded, message, profile: login.profile))]
      }
      state = .checkingCode(queue, resend)
      return []
    case .idle, .resting, .polling, .listening, .accepting, .over:
      return [.refuse(guess.callers, error(.flowNotFound))]
    }
  }

  /// The error for an empty code: the provider is not asked, and no guess is counted.
  private func nothingGiven(_ guess: CodeGuess) -> BrokerError {
    var error = error(guess.isBackupCode ? .backupCodeInvalid : .otpInvalid)
    error.attemptsRemaining = login.step.challenge?.attemptsRemaining
    return error
  }

  private mutating func check(_ queue: CodeQueue, _ resend: CodeResend) -> [Action] {
    state = .checkingCode(queue, resend)
    return [.check(queue.current)]
  }

  /// How many callers wait with a code.
  package var callerCount: Int {
    guard case .checkingCode(let queue, _) = state else { return 0 }
    return queue.callers.count
  }

  /// Forgets a caller that waits with a code.
  mutating func forget(_ caller: CallerID) -> [Action] {
    guard case .checkingCode(var queue, let resend) = state else { return [] }
    queue.forget(caller)
    state = .checkingCode(queue, resend)
    return []
  }

  /// Has the session saved, if it is the expected user's; a code is used up by another user's as well.
  ///
  /// A session that comes for a login which has ended meanwhile is revoked.
  mutating func accept(_ guess: CallerID, _ proof: SessionProof, _ now: Moment) -> [Action] {
    switch proof {
    case .given: break
    case .otherUser: return [.revoke] + refuse(guess, .refused(.accessDenied), now)
    case .replacesAnother:
      guard case .checkingCode(let queue, _) = state, queue.current.id == guess else { return [.revoke] }
      return [.revoke] + end(.keepsSession, isTold: true)
    case .unknown(let failure): return [.revoke] + refuse(guess, .outcomeUnknown(failure.kind), now)
    }
    guard case .checkingCode(var queue, let resend) = state, queue.current.id == guess else { return [.revoke] }
    let accept = Action.accept(callers: queue.takeCurrentCallers(), usesBackupCode: queue.current.isBackupCode)
    state = .accepting
    return [accept] + refusal(of: queue.callers + resend.callers, error(.flowNotFound))
  }

  /// Counts a wrong code, and ends the login with the last one, or where the provider's reply was lost.
  ///
  /// After a lost reply it is unknown whether the code is still good, and whether a session was begun for it. A code is
  /// never sent twice.
  mutating func refuse(_ guess: CallerID, _ failure: ProviderFailure, _ now: Moment) -> [Action] {
    guard case .checkingCode(let queue, _) = state, queue.current.id == guess else { return [] }
    if case .outcomeUnknown(let kind, _) = failure { return end(.replyLost(kind), isTold: true) }
    var error = BrokerError(failure, profile: login.profile)
    guard case .refused(let kind, let provided, _, _) = failure, !kind.isRetryable else { return goOn(error, now) }
    // Who asks for patience has not refused the code for good.
    if kind == .tooManyAttempts, provided != 0, let wait = error.retryAfter, now.wall + wait < login.expiresAt {
      return goOn(error, now)
    }
    if Self.isFinal(kind) {
      if kind == .accessDenied { error = self.error(kind) }
      if kind == .tooManyAttempts { error.retryAfter = rest(error.retryAfter, now) }
      return fail(error)
    }
    if provided == nil || queue.current.isBackupCode
      || Self.isPlausible(queue.current.code, length: login.step.challenge?.otpLength)
    {
      login.wrongCodes += 1
    }
    let remaining = min(provided ?? .max, Self.wrongCodeLimit - login.wrongCodes)
    guard remaining > 0 else {
      let provided = error.retryAfter
      error = BrokerError(.tooManyAttempts, profile: login.profile)
      error.retryAfter = rest(provided, now)
      return fail(error)
    }
    error.attemptsRemaining = remaining
    setAttemptsRemaining(remaining)
    return goOn(error, now)
  }

  /// How long to wait after the last wrong code: as the provider says, else until it would have sent another one.
  private func rest(_ provided: Duration?, _ now: Moment) -> Duration {
    max(provided ?? .zero, resend?.wait(at: now) ?? .zero, Self.shortestRest)
  }

  /// Whether a string can be the code: one that cannot is no guess, where the provider counts guesses too.
  static func isPlausible(_ code: Secret, length: Int?) -> Bool {
    code.byteCount == length
      && code.withBytes { bytes in
        bytes.indices.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) }
      }
  }

  /// Whether the provider ends the login, or an enrolment, with this kind.
  static func isFinal(_ kind: ErrorKind) -> Bool {
    switch kind {
    case .tooManyAttempts, .otpExpired, .flowNotFound, .accessDenied, .accountLocked: true
    default: false
    }
  }

  private mutating func setAttemptsRemaining(_ count: Int) {
    guard case .code(var challenge) = login.step else { return }
    challenge.attemptsRemaining = count
    login.step = .code(challenge)
  }

  /// Ends the login with the error of the current code.
  private mutating func fail(_ error: BrokerError) -> [Action] {
    refuseCurrent(error) + end(.of(error.kind), isTold: true)
  }

  /// Refuses the current code and takes the next one, unless the login's time is over.
  private mutating func goOn(_ error: BrokerError, _ now: Moment) -> [Action] {
    let actions = refuseCurrent(error) + [.keep([.loginFailed(LoginFailedEvent(error.kind, of: login.step))])]
    if let ending = endIfOver(now) { return actions + ending }
    guard case .checkingCode(var queue, let resend) = state else { return actions }
    if queue.advance() { return actions + check(queue, resend) }
    state = .awaitingCode(resend)
    return actions
  }

  private mutating func refuseCurrent(_ error: BrokerError) -> [Action] {
    guard case .checkingCode(var queue, let resend) = state else { return [] }
    defer { state = .checkingCode(queue, resend) }
    return [.refuse(queue.takeCurrentCallers(), error)]
  }
}
