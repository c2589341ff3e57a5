import BrokerProtocol

/// Refused refreshes.
extension SessionMachine {
  /// Whether the session is shown as expired although its refresh token is tried again.
  package var isShownExpired: Bool { refresh.isShownExpired }

  /// Why it is, as a sentence with the provider's own word.
  package var shownEndMessage: String? { refresh.run.flatMap { $0.isShown ? $0.error(profile).message : nil } }

  /// Tells that the session has ended, as far as its clients are concerned.
  mutating func showEnd() -> [Action] {
    answerVersion += 1
    var event = SessionExpiredEvent(reason: .refreshRejected, message: shownEndMessage)
    event.lastWord = ProviderLastWord(error: refresh.run?.rejection.word?.text)
    return [.publish(.sessionExpired(event))]
  }

  /// Keeps the next refresh token, which came without an access token that can be used; the request is repeated with it
  /// once it is saved.
  ///
  /// - Returns: nil where it is the token that was sent: nothing has changed then.
  mutating func keep(_ rotated: RotatedToken, _ flight: UInt64, _ now: Moment) -> [Action]? {
    guard var session = living, rotated.refreshToken != session.tokens.refreshToken else { return nil }
    session.tokens.refreshToken = rotated.refreshToken
    session.tokens.refreshTokenExpiresAt = rotated.expiresAt
    session.rotatesRefreshToken = true
    note(in: &session, now)
    _ = refresh.handle(.succeeded(flight: flight), terms, at: now)
    var events: [EventPayload] = []
    beginRecord(of: &session, &events)
    // The access token and its times stay as they are: no end is counted from this moment.
    var saving = TokensBeingSaved(session: session, generation: generation, since: now, events: events)
    saving.rejection = rotated.rejection
    life?.saving = saving
    return [.save(record(.living(session)), announcing: events)]
  }

  /// Adopts the rotated refresh token, and asks with it for an access token: at once the first time, and later where
  /// that failed too, or would.
  mutating func begin(_ rejection: ProviderRejection, _ new: TokensBeingSaved, _ now: Moment) -> [Action] {
    let failures = refresh.failuresInARow
    life?.take(rotated: new)
    answerVersion += 1
    _ = refresh.handle(.settled, terms, at: now)
    refresh.failuresInARow = failures
    if life?.rotations == 1, rejection.said == nil { return startRefresh(now) }
    let failure = RefreshMachine.Failure(.rejected(rejection), profile: profile)
    return run(refresh.backOff(failure, jitter, terms, now), now)
  }
}
