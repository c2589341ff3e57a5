import BrokerProtocol

/// How a token is got that is not there: one refresh, whoever asks.
extension SessionMachine {
  /// Serves a caller from what is there, or lets them wait for the one refresh.
  mutating func want(_ demand: TokenDemand, _ now: Moment) -> [Action] {
    guard let living else {
      guard demand.waitsForLogin else { return [.answerError(demand.waiter, loginError)] }
      demandsForLogin.append(demand)
      return []
    }
    isInUse = true
    if !demand.forcesRefresh, policy.isGood(living, for: demand.minValidity, at: now.wall) {
      return [.answerToken(demand.waiter, isOffline: false)]
    }
    demands.append(demand)
    return refreshOrJoin(living, now)
  }

  /// Serves whoever still waits, as if they had just asked.
  mutating func serveWaiting(_ now: Moment) -> [Action] {
    guard let living, !demands.isEmpty else { return [] }
    return refreshOrJoin(living, now)
  }

  private mutating func refreshOrJoin(_ living: LivingSession, _ now: Moment) -> [Action] {
    // A login that is being saved will bring better tokens, or let the waiting go on.
    guard pendingLogin == nil else { return [] }
    switch activity {
    case .preparing, .refreshing, .saving: return []
    case .backingOff(let until, var error) where now.uptime < until:
      error.retryAfter = until - now.uptime
      return settle(living, error, now)
    case .backingOff, .resting: return refresh(living, now)
    }
  }

  private mutating func refresh(_ living: LivingSession, _ now: Moment) -> [Action] {
    if let obstacle = living.refreshObstacle(at: now.wall) {
      activity = .resting
      guard living.isAccessTokenAlive(at: now.wall) else { return end(obstacle, alert: nil, now) }
      return settle(living, BrokerError(.loginRequired, "The session cannot be refreshed.", profile: profile), now)
    }
    // The journal must name the token that rests in the store, so nothing is spent before the last one rests there.
    if isStoreDegraded {
      activity = .resting
      return [.saveAgain]
    }
    if let wait = budget.spend(at: now.uptime) {
      var error = BrokerError(.rateLimited, "The profile was refreshed too often in a minute.", profile: profile)
      error.retryAfter = wait
      activity = .backingOff(until: now.uptime + wait, error)
      return settle(living, error, now)
    }
    flights += 1
    activity = .preparing(flight: flights)
    // The intent of a refresh whose outcome is unknown is still open.
    if isOutcomeUnknown { return spend(flights, now) }
    let intent = RefreshIntent(profile: profile, generation: generation, startedAt: now.wall)
    return [.openIntent(flight: flights, intent)]
  }

  /// Answers everybody who waits: with the living token where that serves, else with the error.
  mutating func settle(_ living: LivingSession, _ error: BrokerError, _ now: Moment) -> [Action] {
    let waiting = demands
    demands = []
    let isAlive = living.isAccessTokenAlive(at: now.wall)
    return waiting.map { demand in
      isAlive && !demand.forcesRefresh
        ? .answerToken(demand.waiter, isOffline: true) : .answerError(demand.waiter, error)
    }
  }

  /// Takes in new tokens, which nobody sees before they are saved.
  mutating func acceptRefresh(_ flight: UInt64, _ tokens: TokenSet, _ sentAt: Timestamp, _ now: Moment) -> [Action] {
    guard case .refreshing(flight) = activity, let session = living else { return [] }
    guard pendingLogin == nil else {
      heldAnswer = .refreshSucceeded(flight: flight, tokens, sentAt: sentAt)
      return []
    }
    return take(tokens, into: session, sentAt, now)
  }

  /// Takes in tokens that the provider gave for the session's on its own, with a changed password.
  ///
  /// A refresh that is under way spends a token that the provider no longer knows: its answer is not waited for. Where
  /// tokens are being saved, those were given for a session that is the provider's older one.
  mutating func replaceTokens(_ tokens: TokenSet, _ sentAt: Timestamp, _ now: Moment) -> [Action] {
    guard var session = living, pendingLogin == nil else { return [] }
    session.authTime = now.wall
    return take(tokens, into: session, sentAt, now)
  }

  private mutating func take(
    _ tokens: TokenSet, into session: LivingSession, _ sentAt: Timestamp, _ now: Moment
  ) -> [Action] {
    var session = session
    var merged = tokens
    if merged.refreshToken == nil {
      merged.refreshToken = session.tokens.refreshToken
      merged.refreshTokenExpiresAt = session.tokens.refreshTokenExpiresAt
    }
    if merged.scopes.isEmpty { merged.scopes = session.tokens.scopes }
    session.tokens = merged
    session.issuedAt = sentAt
    session.lastRefreshAt = now.wall
    session.lastValidatedAt = now.wall
    generation += 1
    activity = .saving(session, generation: generation)
    return [.save(record(.living(session)), announcing: [refreshed(session)])]
  }

  /// What is told of new tokens.
  func refreshed(_ session: LivingSession) -> EventPayload {
    let tokens = session.tokens
    return .tokenRefreshed(
      TokenRefreshedEvent(tokenID: tokenID(tokens.accessToken), expiresAt: tokens.accessTokenExpiresAt))
  }

  /// Takes in a failure: a definitive refusal ends the session, anything else keeps it and backs off.
  mutating func failRefresh(
    _ flight: UInt64, _ failure: ProviderFailure, _ jitter: Double, _ now: Moment
  ) -> [Action] {
    guard case .refreshing(flight) = activity, let living else { return [] }
    guard pendingLogin == nil else {
      heldAnswer = .refreshFailed(flight: flight, failure, jitter: jitter)
      return []
    }
    if case .sessionEnded(let reason, let alert) = failure {
      // A token that was perhaps spent by ourselves is no sign of a thief.
      return isOutcomeUnknown ? end(.refreshOutcomeUnknown, alert: nil, now) : end(reason, alert: alert, now)
    }
    if case .reauthenticationRequired = failure { return end(.refreshRejected, alert: nil, now) }
    var floor: Duration?
    if case .transient(_, let retryAfter) = failure { floor = retryAfter }
    if case .outcomeUnknown = failure { isOutcomeUnknown = true }
    guard isOutcomeUnknown else {
      return [.closeIntent] + backOff(living, BrokerError(failure.kind, profile: profile), jitter, floor: floor, now)
    }
    // While the access token lives, sending the refresh token again could still lose the session.
    if let end = living.tokens.accessTokenExpiresAt, end > now.wall { floor = max(floor ?? .zero, end - now.wall) }
    return backOff(living, BrokerError(.refreshOutcomeUnknown, profile: profile), jitter, floor: floor, now)
  }

  /// Rests for a while after a failure, and answers everybody who waits.
  mutating func backOff(
    _ living: LivingSession, _ error: BrokerError, _ jitter: Double, floor: Duration?, _ now: Moment
  ) -> [Action] {
    failuresInARow += 1
    var error = error
    var delay = Backoff.delay(afterFailures: failuresInARow, jitter: jitter, floor: floor)
    if isOutcomeUnknown, let floor { delay = max(delay, floor) }
    error.retryAfter = delay
    activity = .backingOff(until: now.uptime + delay, error)
    let event = RefreshFailedEvent(
      kind: error.kind.rawValue, retryable: error.isRetryable, nextAttemptAt: now.wall + delay)
    return settle(living, error, now) + [.publish(.refreshFailed(event))]
  }

  /// Does what is due: a background refresh, another try, or the end of a session that is over.
  mutating func wake(_ now: Moment) -> [Action] {
    guard let living, pendingLogin == nil else { return [] }
    switch activity {
    case .preparing, .refreshing, .saving: return []
    case .backingOff(let until, _) where now.uptime < until: return endIfOver(living, now)
    case .backingOff:
      return policy.refreshesInBackground ? refresh(living, now) : endIfOver(living, now)
    case .resting:
      guard isInUse, !isStoreDegraded, let due = policy.refreshDue(living), due <= now.wall,
        living.refreshObstacle(at: now.wall) == nil
      else {
        return endIfOver(living, now)
      }
      return refresh(living, now)
    }
  }

  /// Ends a session of which neither token lives any more, without asking anybody.
  private mutating func endIfOver(_ living: LivingSession, _ now: Moment) -> [Action] {
    guard !living.isAccessTokenAlive(at: now.wall), let obstacle = living.refreshObstacle(at: now.wall) else {
      return []
    }
    return end(obstacle, alert: nil, now)
  }
}
