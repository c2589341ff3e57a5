import BrokerProtocol

/// Interpretation of the provider's answers.
extension RefreshMachine {
  /// A failure, and its meaning for the next try.
  struct Failure {
    /// The error for callers.
    var error: BrokerError
    /// The provider's own wish.
    var retryAfter: Duration?
    /// The provider condition that must be seen before another try is worth it at once; nil where only time helps.
    var endsWith: ProviderCondition?

    /// A failure without a wish.
    init(_ error: BrokerError) { self.error = error }

    /// The failure of a provider.
    init(_ failure: ProviderFailure, profile: ProfileName) {
      error = BrokerError(failure, profile: profile)
      retryAfter = failure.retryAfter
      endsWith = failure.endsWith
      if case .rejected(let rejection) = failure, rejection.mayPass { error.mayPass() }
      if failure.isOfForeignType {
        retryAfter = Self.restOfForeignType
        endsWith = nil
      }
    }

    /// How long nothing is sent where only the provider's operator, or another configuration, helps.
    private static let restOfForeignType = Duration.seconds(3600)
  }

  /// Handles a failure: a definitive refusal ends the session, any other keeps it and backs off.
  mutating func fail(
    _ flight: UInt64, _ failure: ProviderFailure, _ jitter: Double, _ terms: Terms, _ now: Moment
  ) -> [Action] {
    guard case .sent(flight, let sentAt) = state else { return [] }
    if case .outcomeUnknown = failure { mayHaveSpent = true }
    switch failure {
    case .sessionEnded(let reason, let alert, let said):
      // A token that was perhaps spent by ourselves is no sign of a thief; another user's tokens are a sign all the same.
      let isOurs = (lost != nil || mayHaveSpent) && alert != .subjectMismatch
      return isOurs ? end(.refreshOutcomeUnknown, said: said) : end(reason, alert: alert, said: said)
    case .reauthenticationRequired, .challenged: return end(.refreshRejected, wantsUser: true)
    case .outcomeUnknown where terms.rotates:
      lost = lost ?? LostReply(sentAt: sentAt)
      // The waiting callers go on waiting: the replay belongs to the same flight for them.
      if lost?.mayBeReplayed(within: terms.grace, at: now) == true { return begin(terms, now) }
    case _ where failure.wantsProof:
      if let actions = sendAgain(terms, now) { return actions }
    case _ where failure.neverLeft:
      // A replay is still to come.
      lost?.isReplayed = false
    case .rejected(let rejection): if let actions = take(rejection, terms, now) { return actions }
    case .transient, .outcomeUnknown, .refused, .misconfigured, .rotated, .tokenRefused, .credentialMissing,
      .subjectMissing, .unsupported:
      break
    }
    if isShownExpired, lost == nil {
      run?.noteTry(failure)
      return restShown(now)
    }
    return backOff(Failure(failure, profile: profile), jitter, terms, now)
  }

  /// Rests for a while after a failure.
  mutating func backOff(_ failure: Failure, _ jitter: Double, _ terms: Terms, _ now: Moment) -> [Action] {
    failuresInARow += 1
    proofsWanted = 0
    let delay = Backoff.delay(afterFailures: failuresInARow, jitter: jitter, floor: failure.retryAfter)
    let pause = Backoff.pauseOfCallers(delay, jitter: jitter, floor: failure.retryAfter)
    var error = failure.error
    var actions: [Action] = []
    if let lost {
      error = outcomeUnknown(terms, now)
      let next = Moment(wall: now.wall + delay, uptime: now.uptime + delay)
      // While the access token lives, sending the refresh token again could still lose the session.
      if terms.servesAccessToken(at: now), !lost.mayBeReplayed(within: terms.grace, at: next) {
        state = .holdingBack
        return [.report(error, nextAttemptAt: terms.accessEnd?.wall)]
      }
    } else if hasIntent, !mayHaveSpent {
      hasIntent = false
      actions = [.closeIntent]
    }
    error.wait(pause)
    callersWaitUntil = now.uptime + pause
    state = .backingOff(until: now.uptime + delay, error, endsWith: failure.endsWith)
    return actions + [.report(error, nextAttemptAt: now.wall + delay)]
  }

  /// Ends the wait where the provider is seen to be so well that another try is worth it.
  ///
  /// One that was reached all the time has refused this session just now, perhaps for a reason of its own: it is not
  /// asked more often than for a caller.
  mutating func endBackOff(_ condition: ProviderCondition, _ now: Moment) {
    guard case .backingOff(let until, let error, let cure?) = state, cure <= condition else { return }
    let soon = cure == .reached ? now.uptime : max(now.uptime, callersWaitUntil)
    if soon < until { state = .backingOff(until: soon, error, endsWith: cure) }
  }

  /// Waits no longer, whatever went wrong.
  mutating func forgiveFailures(_ now: Moment) {
    guard case .backingOff(_, let error, let cure) = state else { return }
    failuresInARow = 0
    state = .backingOff(until: now.uptime, error, endsWith: cure)
  }
}
