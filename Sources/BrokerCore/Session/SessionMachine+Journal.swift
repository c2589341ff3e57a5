import BrokerProtocol

/// How it is known after a crash whether a refresh token may have been spent.
extension SessionMachine {
  /// Sends the refresh token: the intent to do so is durable.
  mutating func spend(_ flight: UInt64, _ now: Moment) -> [Action] {
    guard case .preparing(flight) = activity, let refreshToken = living?.tokens.refreshToken else { return [] }
    // A login that is being saved will replace the token: it is not worth spending.
    guard pendingLogin == nil else {
      activity = .resting
      return [.closeIntent]
    }
    activity = .refreshing(flight: flight)
    return [.spendRefreshToken(flight: flight, refreshToken)]
  }

  /// Does not send the refresh token: a crash could not be told from a lost session.
  mutating func refuseToSpend(_ flight: UInt64, _ jitter: Double, _ now: Moment) -> [Action] {
    guard case .preparing(flight) = activity, let living else { return [] }
    guard pendingLogin == nil else {
      activity = .resting
      return []
    }
    return backOff(living, BrokerError(.storeFailed, profile: profile), jitter, floor: nil, now)
  }

  /// Takes up a session whose refresh token was perhaps spent: nothing is sent while the access token lives.
  mutating func waitForOutcome(_ session: LivingSession, _ now: Moment) {
    isOutcomeUnknown = true
    let end = session.tokens.accessTokenExpiresAt.map { max($0 - now.wall, .zero) } ?? Backoff.shortest
    activity = .backingOff(until: now.uptime + end, BrokerError(.refreshOutcomeUnknown, profile: profile))
  }

  /// Answers whoever waits for a refresh that cannot begin: the tokens of the last one do not rest in the store yet.
  mutating func refuseWhileDegraded(_ now: Moment) -> [Action] {
    guard let living, !demands.isEmpty else { return [] }
    return settle(living, BrokerError(.storeFailed, profile: profile), now)
  }
}
