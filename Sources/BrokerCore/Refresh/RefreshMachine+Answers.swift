import BrokerProtocol

/// What the answers mean.
extension RefreshMachine {
  /// What went wrong, and what it says of the next try.
  struct Failure {
    /// What callers are told.
    var error: BrokerError
    /// The provider's own wish.
    var retryAfter: Duration?

    /// A failure without a wish.
    init(_ error: BrokerError) { self.error = error }

    /// The failure of a provider.
    init(_ failure: ProviderFailure, profile: ProfileName) {
      error = BrokerError(failure, profile: profile)
      switch failure {
      case .transient(_, let retryAfter), .outcomeUnknown(_, let retryAfter): self.retryAfter = retryAfter
      case .rejected(let rejection): retryAfter = rejection.retryAfter
      default: break
      }
    }

    /// Whether it is worth trying again as soon as the network is back.
    ///
    /// A provider that was reached is not asked sooner, and one that named a time not before it.
    var endsWithNetwork: Bool {
      retryAfter == nil && (error.kind == .networkUnavailable || error.kind == .timeout)
    }
  }

  /// Takes in a failure: a definitive refusal ends the session, anything else keeps it and backs off.
  mutating func fail(
    _ flight: UInt64, _ failure: ProviderFailure, _ jitter: Double, _ terms: Terms, _ now: Moment
  ) -> [Action] {
    guard case .sent(flight, let sentAt) = state else { return [] }
    switch failure {
    case .sessionEnded(let reason, let alert):
      // A token that was perhaps spent by ourselves is no sign of a thief; another user's tokens are a sign all the same.
      return lost == nil || alert == .subjectMismatch ? end(reason, alert: alert) : end(.refreshOutcomeUnknown)
    case .reauthenticationRequired: return end(.refreshRejected, wantsUser: true)
    case .outcomeUnknown where terms.rotates:
      lost = lost ?? LostReply(sentAt: sentAt)
      // The waiting callers go on waiting: the replay belongs to the same flight for them.
      if lost?.mayBeReplayed(within: terms.grace, at: now) == true { return begin(terms, now) }
    case _ where failure.neverLeft:
      // A replay is still to come.
      lost?.isReplayed = false
    case .rejected(let rejection): if let actions = take(rejection, terms, now) { return actions }
    case .transient, .outcomeUnknown, .refused, .misconfigured, .rotated, .tokenRefused, .unsupported: break
    }
    if isShownExpired, lost == nil { return restShown(now) }
    return backOff(Failure(failure, profile: profile), jitter, terms, now)
  }

  /// Rests for a while after a failure.
  mutating func backOff(_ failure: Failure, _ jitter: Double, _ terms: Terms, _ now: Moment) -> [Action] {
    failuresInARow += 1
    let delay = Backoff.delay(afterFailures: failuresInARow, jitter: jitter, floor: failure.retryAfter)
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
    } else if hasIntent {
      hasIntent = false
      actions = [.closeIntent]
    }
    error.retryAfter = delay
    state = .backingOff(until: now.uptime + delay, error, endsWithNetwork: failure.endsWithNetwork)
    return actions + [.report(error, nextAttemptAt: now.wall + delay)]
  }
}
