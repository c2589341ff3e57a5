import BrokerProtocol
import SecretMemory

/// How codes are tried, and sent again.
extension LoginFlow {
  /// One code at a time: another one waits for its turn, and the same one shares the answer.
  mutating func take(_ guess: CodeGuess, _ now: Moment) -> [Action] {
    switch stage {
    case .awaitingCode:
      if let actions = endIfOver(now) { return [.refuse(guess.callers, error(.flowNotFound))] + actions }
      return guess.code.byteCount == 0 ? [.refuse(guess.callers, nothingGiven(guess))] : check(guess)
    case .checkingCode where guess.code.byteCount == 0: return [.refuse(guess.callers, nothingGiven(guess))]
    case .checkingCode(var current):
      guard !current.isSame(as: guess) else {
        current.callers += guess.callers
        stage = .checkingCode(current)
        return []
      }
      return enqueue(guess)
    case .resting, .asking, .listening, .accepting, .over: return [.refuse(guess.callers, error(.flowNotFound))]
    }
  }

  private mutating func enqueue(_ guess: CodeGuess) -> [Action] {
    if let same = guesses.firstIndex(where: { $0.isSame(as: guess) }) {
      guesses[same].callers += guess.callers
      return []
    }
    guard guesses.count < Self.waitingGuessLimit else {
      let message = "Too many codes are being checked; try again."
      return [.refuse(guess.callers, BrokerError(.overloaded, message, profile: login.profile))]
    }
    guesses.append(guess)
    return []
  }

  /// What has no character is no guess: no provider is asked, and none counts it.
  private func nothingGiven(_ guess: CodeGuess) -> BrokerError {
    var error = error(guess.isBackupCode ? .backupCodeInvalid : .otpInvalid)
    error.attemptsRemaining = login.step.challenge?.attemptsRemaining
    return error
  }

  private mutating func check(_ guess: CodeGuess) -> [Action] {
    stage = .checkingCode(guess)
    return [.check(guess)]
  }

  /// How many callers wait with a code.
  package var callerCount: Int {
    let waiting = guesses.reduce(0) { $0 + $1.callers.count }
    guard case .checkingCode(let current) = stage else { return waiting }
    return waiting + current.callers.count
  }

  /// Forgets a caller; a code whose last caller has left, and that the provider was not asked about yet, goes with it.
  mutating func forget(_ caller: UInt64) -> [Action] {
    if case .checkingCode(var current) = stage {
      current.callers.removeAll { $0 == caller }
      stage = .checkingCode(current)
    }
    for index in guesses.indices { guesses[index].callers.removeAll { $0 == caller } }
    guesses.removeAll { $0.callers.isEmpty }
    return []
  }

  /// A session that comes for a login which has ended meanwhile is revoked.
  mutating func accept(_ number: UInt64) -> [Action] {
    guard case .checkingCode(let guess) = stage, guess.number == number else { return [.revoke] }
    let others = guesses.flatMap(\.callers) + (resendCaller.map { [$0] } ?? [])
    resendCaller = nil
    guesses = []
    stage = .accepting
    return [.accept(callers: guess.callers)] + (others.isEmpty ? [] : [.refuse(others, error(.flowNotFound))])
  }

  /// Counts a wrong code, and ends the login with the last one, or where the provider's reply was lost.
  ///
  /// After a lost reply it is unknown whether the code is still good, and whether a session was begun for it. A code is
  /// never sent twice.
  mutating func refuse(_ number: UInt64, _ failure: ProviderFailure, _ now: Moment) -> [Action] {
    guard case .checkingCode(let guess) = stage, guess.number == number else { return [] }
    if case .outcomeUnknown(let kind, _) = failure { return end(.replyLost(kind), isTold: true) }
    var error = BrokerError(failure, profile: login.profile)
    guard case .refused(let kind, let provided, _, _) = failure, !kind.isRetryable else {
      return goOn([.refuse(guess.callers, error), .keep([failed(error.kind)])], now)
    }
    if Self.isFinal(kind) {
      if kind == .accessDenied { error = self.error(kind) }
      if kind == .tooManyAttempts { error.retryAfter = rest(error.retryAfter, now) }
      return fail(guess, error)
    }
    if provided == nil || guess.isBackupCode || isPlausible(guess.code) { login.wrongCodes += 1 }
    let remaining = min(provided ?? .max, Self.wrongCodeLimit - login.wrongCodes)
    guard remaining > 0 else {
      let provided = error.retryAfter
      error = BrokerError(.tooManyAttempts, profile: login.profile)
      error.retryAfter = rest(provided, now)
      return fail(guess, error)
    }
    error.attemptsRemaining = remaining
    setAttemptsRemaining(remaining)
    return goOn([.refuse(guess.callers, error), .keep([failed(kind)])], now)
  }

  /// How long to wait after the last wrong code: as the provider says, else until it would have sent another one.
  private func rest(_ provided: Duration?, _ now: Moment) -> Duration {
    max(provided ?? .zero, resendAt?.rest(at: now) ?? .zero, Self.shortestRest)
  }

  /// Whether it can be the code: what cannot is no guess where the provider counts guesses too.
  private func isPlausible(_ code: Secret) -> Bool {
    code.byteCount == login.step.challenge?.otpLength
      && code.withBytes { bytes in
        bytes.indices.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) }
      }
  }

  /// What the provider itself ends the login with.
  private static func isFinal(_ kind: ErrorKind) -> Bool {
    switch kind {
    case .tooManyAttempts, .otpExpired, .flowNotFound, .accessDenied, .accountLocked: true
    default: false
    }
  }

  private func failed(_ kind: ErrorKind) -> EventPayload { .loginFailed(LoginFailedEvent(kind: kind.rawValue)) }

  private mutating func fail(_ guess: CodeGuess, _ error: BrokerError) -> [Action] {
    stage = .awaitingCode
    return [.refuse(guess.callers, error)] + end(.of(error.kind), isTold: true)
  }

  /// Takes the next code, unless the login's time is over.
  private mutating func goOn(_ actions: [Action], _ now: Moment) -> [Action] {
    stage = .awaitingCode
    if let ending = endIfOver(now) { return actions + ending }
    guard !guesses.isEmpty else { return actions }
    return actions + check(guesses.removeFirst())
  }

  /// Another code is sent at the provider's pace, and never two at a time.
  mutating func wantResend(_ caller: UInt64, _ now: Moment) -> [Action] {
    guard case .code = login.step, stage != .accepting, stage != .over else {
      return [.refuse([caller], error(.flowNotFound))]
    }
    if stage == .awaitingCode, let actions = endIfOver(now) {
      return [.refuse([caller], error(.flowNotFound))] + actions
    }
    let wait = resendAt?.rest(at: now) ?? .zero
    guard resendCaller == nil, wait <= .zero else {
      var error = error(.resendTooSoon)
      error.retryAfter = max(wait, .seconds(1))
      return [.refuse([caller], error)]
    }
    resendCaller = caller
    return [.resend(caller: caller)]
  }

  /// Takes over what the provider says after another code was sent; wrong codes stay counted.
  mutating func renew(_ provided: ProviderChallenge, _ now: Moment) -> [Action] {
    guard let caller = resendCaller else { return [] }
    resendCaller = nil
    login.flow = provided.flow
    var challenge = provided.described(id: login.id, profile: login.profile)
    challenge.attemptsRemaining = min(challenge.attemptsRemaining, Self.wrongCodeLimit - login.wrongCodes)
    login.step = .code(challenge)
    resendAt = now.deadline(challenge.nextResendAt)
    return [.keep([.otpResent(challenge)], answering: caller)]
  }

  /// Another code was not sent: the last one is good still, unless the provider says otherwise.
  mutating func failResend(_ failure: ProviderFailure, _ now: Moment) -> [Action] {
    guard let caller = resendCaller else { return [] }
    resendCaller = nil
    let refusal = Action.refuse([caller], BrokerError(failure, profile: login.profile))
    switch failure {
    case .refused(.flowNotFound, _, _, _), .refused(.otpExpired, _, _, _):
      return [refusal] + end(.of(failure.kind), isTold: true)
    case .refused(.resendTooSoon, _, let retryAfter?, _):
      if case .code(var challenge) = login.step {
        challenge.nextResendAt = max(challenge.nextResendAt, now.wall + retryAfter)
        login.step = .code(challenge)
        resendAt = now.deadline(now.wall + retryAfter)
      }
    default: break
    }
    return [refusal]
  }

  private mutating func setAttemptsRemaining(_ count: Int) {
    guard case .code(var challenge) = login.step else { return }
    challenge.attemptsRemaining = count
    login.step = .code(challenge)
  }
}

extension ProviderChallenge {
  /// The challenge as clients may know it.
  func described(id: String, profile: ProfileName) -> OTPChallenge {
    OTPChallenge(
      otpFlowID: id, profile: profile, method: method, maskedDestination: maskedDestination, otpLength: otpLength,
      expiresAt: expiresAt, nextResendAt: nextResendAt,
      attemptsRemaining: min(attemptsRemaining, LoginFlow.wrongCodeLimit), backupCodesAllowed: backupCodesAllowed)
  }
}
