import BrokerProtocol

/// What time, use and the outside world bring about without anybody's asking for a token.
extension SessionMachine {
  /// Does what is due: a background refresh, another try, a note of the last use, or the end of a session that is over.
  mutating func wake(_ now: Moment) -> [Action] {
    guard let life, pendingLogin == nil else { return [] }
    if use.isOver(at: now.uptime) { return endIdle(now) }
    guard saving == nil, !refresh.isUnderWay else { return [] }
    if let reason = life.end(at: now) { return end(reason, alert: nil, now) }
    if refusedLogin != nil, mayNoteUse { return overwriteLogin(now) }
    if isRefreshDue(life, now) { return startRefresh(now) }
    return noteUse(now)
  }

  private mutating func isRefreshDue(_ life: TokenLife, _ now: Moment) -> Bool {
    guard policy.refreshesInBackground, !isStoreDegraded, life.obstacle(at: now) == nil else { return false }
    switch refresh.state {
    case .preparing, .sent, .saving: return false
    case .backingOff, .barred, .holdingBack: return refreshesUnasked(now) && refresh.refusal(terms, at: now) == nil
    case .resting:
      let isInUse = use.isInUse(at: now.uptime, lifetime: life.lifetime)
      return !schedule.handle(.woken(isInUse: isInUse), at: now).isEmpty
    }
  }

  /// Does not wait any longer for a network that is back.
  ///
  /// Whatever rests because of something else goes on resting. Where nothing is refreshed unasked, the next caller need
  /// not wait.
  mutating func tryAgain(_ now: Moment) -> [Action] {
    guard living != nil, pendingLogin == nil, case .backingOff(let until, _, true) = refresh.state,
      until > now.uptime
    else {
      return []
    }
    _ = refresh.handle(.networkReturned, terms, at: now)
    return refreshesUnasked(now) ? wake(now) : []
  }

  /// Applies the present configuration.
  mutating func change(_ rules: SessionRules, _ now: Moment) -> [Action] {
    let isReplanned = rules.expiry != self.rules.expiry
    self.rules = rules
    others.forgetRefusals()
    answerVersion += 1
    guard living != nil else {
      use.timeout = rules.idleTimeout
      return []
    }
    use.setTimeout(rules.idleTimeout, at: now.uptime)
    if isReplanned { plan(now) }
    return wake(now)
  }

  /// Plans the background refresh of the present tokens.
  mutating func plan(_ now: Moment) {
    guard let living, let since else { return }
    let due = RefreshSchedule.due(living, since: since, policy, jitter: jitter)
    _ = schedule.handle(.tokensTaken(due: due), at: now)
  }
}

/// What becomes of a session that is used, or is not.
extension SessionMachine {
  /// Takes in that a client has used the session.
  mutating func noticeUse(_ uptime: Duration, _ now: Moment) -> [Action] {
    guard living != nil else { return [] }
    use.used(at: uptime)
    if use.isInUse(at: now.uptime, lifetime: life?.lifetime) { _ = schedule.handle(.used, at: now) }
    return []
  }

  /// Ends a session that no client has used for too long; its provider is told.
  mutating func endIdle(_ now: Moment) -> [Action] {
    let discards = newestTokens.map { [Action.discard($0, withNextRecord: true)] } ?? []
    return discards + end(.idleTimeout, alert: nil, now)
  }

  /// Whether the last use can be written down: a record closes the intent of a refresh, so none is written while one is
  /// open, nor while newer tokens are on their way to the store or could not be saved.
  var mayNoteUse: Bool {
    saving == nil && !refresh.isUnderWay && !isOutcomeUnknown && !isStoreDegraded && notedGeneration == nil
  }

  /// Writes down when the session was last used, under a generation of its own: it can replace no newer tokens.
  mutating func noteUse(_ now: Moment) -> [Action] {
    guard var session = living, mayNoteUse, let due = use.noteDue, due <= now.uptime else { return [] }
    note(in: &session, now)
    phase = .living(session)
    generation += 1
    notedGeneration = generation
    return [.save(record(.living(session)), announcing: [])]
  }

  /// Puts the last use into a session that is about to be written.
  mutating func note(in session: inout LivingSession, _ now: Moment) {
    use.noted(at: now.uptime)
    session.lastUsedAt = use.notedUse.map { now.wall + ($0 - now.uptime) }
  }
}
