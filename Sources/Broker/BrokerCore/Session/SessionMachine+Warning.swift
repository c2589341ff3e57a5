import BrokerProtocol

/// The warning before a session's own end.
///
/// That is the end of its refresh token, as the provider says it, or of an access token that cannot be refreshed. An idle
/// timeout is none: the next use puts it off.
extension SessionMachine {
  /// When to warn of the session's end; nil where that is done, is not wanted, or comes too late.
  ///
  /// A session that lives no longer than the configured time is warned of when a quarter of its life is left: one whose
  /// refresh token is renewed in time, when two thirds of it are over, never comes to that.
  func endWarning(of life: SessionLife, at now: Moment) -> Deadline? {
    let tokens = life.tokens
    let (end, whole) =
      tokens.isRefreshable ? (tokens.refreshEnd, tokens.refreshLifetime) : (tokens.accessEnd, tokens.lifetime)
    guard rules.warnBeforeEnd > .zero, !life.session.isEndTold, !isUnattended, !isShownExpired, let end, let whole,
      !end.hasCome(at: now)
    else { return nil }
    let lead = rules.warnBeforeEnd < whole ? rules.warnBeforeEnd : whole / 4
    return end.later(by: .zero - lead)
  }

  /// Warns of the session's end, once it is time; nil where it is not.
  ///
  /// The event and that it was told are one change, so that a restart does not repeat it. Where no record may be written
  /// now – the outcome of a refresh is unknown, or others share the record – the event is told alone, and the next record
  /// says so: only a restart before that tells it again.
  mutating func warnOfEnd(_ now: Moment) -> [Action]? {
    guard let life, let due = endWarning(of: life, at: now), due.hasCome(at: now),
      let end = shown(
        life.tokens.isRefreshable ? life.session.tokens.refreshTokenExpiresAt : life.session.tokens.accessTokenExpiresAt
      )
    else { return nil }
    let event = EventPayload.sessionEnding(SessionEndingEvent(endsAt: end))
    let isKept = mayNoteUse
    self.life?.session.isEndTold = true
    guard isKept else { return [.publish(event)] }
    self.life?.notedWarning = event
    return saveNote([event], now)
  }
}
