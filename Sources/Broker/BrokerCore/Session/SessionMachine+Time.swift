import BrokerProtocol

/// Timers, use and outside events, between callers' requests.
extension SessionMachine {
  /// Carries out due work: a background refresh, another try, a note of the last use, or the end of a session that is
  /// over.
  mutating func wake(_ now: Moment) -> [Action] {
    guard let life, !isSigningIn else { return [] }
    if life.isIdleOver(at: now) { return endIdle(now) }
    let returned = tellReturn(now)
    guard returned.isEmpty else { return returned }
    guard life.saving == nil, !refresh.isUnderWay else { return [] }
    if life.tokens.isSpent(at: now), !life.toldEnd { return tellEnd(now) }
    if logins.refused != nil, mayNoteUse { return overwriteLogin(now) }
    if isRefreshDue(now) { return startRefresh(now) }
    return warnOfEnd(now) ?? noteUse(now)
  }

  private mutating func isRefreshDue(_ now: Moment) -> Bool {
    guard let tokenLife, !isStoreDegraded, tokenLife.isRefreshable, !refresh.isAwaitingOther(at: now) else {
      return false
    }
    if case .awaitingOther = refresh.state, !demands.isEmpty { return true }
    guard policy.refreshesInBackground, providerRest <= now.uptime else { return false }
    switch refresh.state {
    case .preparing, .sent, .saving: return false
    case .backingOff, .barred, .holdingBack, .awaitingOther:
      return refreshesUnasked(now) && refresh.refusal(terms, at: now, isUnasked: true) == nil
    case .resting:
      let isInUse = life?.isInUse(at: now) ?? false
      return life?.schedule.handle(.woken(isInUse: isInUse), at: now) == [.refresh]
    }
  }

  /// Ends the wait for a provider that is well again.
  ///
  /// A wait for another reason goes on. Where nothing is refreshed unasked, the next caller need not wait.
  mutating func tryAgain(_ condition: ProviderCondition, _ now: Moment) -> [Action] {
    if condition != .reached { first.forgive() }
    guard let life, !isSigningIn, life.saving == nil, !refresh.isUnderWay else { return [] }
    _ = refresh.handle(.providerSeen(condition), terms, at: now)
    guard !life.isIdleOver(at: now), refreshesUnasked(now), isRefreshDue(now) else { return [] }
    return startRefresh(now)
  }

  /// Applies the present configuration.
  mutating func change(_ rules: SessionRules, _ now: Moment) -> [Action] {
    let isReplanned = rules.expiry != self.rules.expiry || rules.keepAlive != self.rules.keepAlive
    self.rules = rules
    answerVersion += 1
    first.forgive()
    guard life != nil else { return isConfigured ? readAgain(now) : [] }
    life?.others.forgetRefusals()
    refresh.insist(at: now)
    life?.use.setRules(rules, at: now.uptime)
    if isReplanned { plan(now) }
    // What the provider did not accept may be right now.
    _ = refresh.handle(.reconfigured, terms, at: now)
    return isConfigured ? readAgain(now) : wake(now)
  }

  /// Plans the background refresh of the present tokens.
  mutating func plan(_ now: Moment) {
    guard var life else { return }
    life.plan(policy, jitter: jitter, at: now)
    phase = .living(life)
  }
}

/// Use of a session, and its end for want of use.
extension SessionMachine {
  /// Takes in that a client has used the session.
  mutating func noticeUse(_ uptime: Duration, _ now: Moment) -> [Action] {
    life?.use.used(at: uptime)
    if life?.isInUse(at: now) ?? false { _ = life?.schedule.handle(.used, at: now) }
    return []
  }

  /// Ends a session that no client has used for too long; its provider is told.
  mutating func endIdle(_ now: Moment) -> [Action] {
    let discards = newestTokens.map { [Action.discard($0, withNextRecord: true)] } ?? []
    return discards + end(.idleTimeout, alert: nil, now)
  }

  /// Whether the last use can be written down: a record closes the intent of a refresh, so none is written while one is
  /// open, nor while newer tokens are on their way to the store or could not be saved.
  var mayNoteUse: Bool { life.map { mayNoteUse(of: $0) } ?? false }

  /// The same of a session that was found living already.
  func mayNoteUse(of life: SessionLife) -> Bool {
    // A record of a broker that has not got the newest tokens would replace them.
    !isShared && !isConfigured && life.saving == nil && life.unsavedEvents == nil && life.notedGeneration == nil
      && !refresh.isUnderWay
      && !isOutcomeUnknown && !refresh.mayHaveSpent
  }

  /// Writes down the last use, under a generation of its own: it can replace no newer tokens.
  mutating func noteUse(_ now: Moment) -> [Action] {
    guard mayNoteUse, let due = life?.use.noteDue, due <= now.uptime else { return [] }
    return saveNote([], now)
  }

  /// Writes the session as it is, with its last use, and tells of it what is to be told.
  mutating func saveNote(_ events: [EventPayload], _ now: Moment) -> [Action] {
    guard var session = living else { return [] }
    note(in: &session, now)
    life?.session = session
    return writeNote(of: session, telling: events)
  }

  /// Writes down what a client or a server has left with the session; it is dropped where that cannot be saved.
  private mutating func writeNote(of session: LivingSession, telling events: [EventPayload] = []) -> [Action] {
    generation += 1
    let record = record(.living(session))
    life?.notedGeneration = record.generation
    life?.owesNote = false
    return [.save(record, announcing: events)]
  }

  /// Takes in what a server demands of the next login; it is written down as soon as a record can be.
  mutating func demand(_ stepUp: StepUp) -> [Action] {
    guard life != nil, living?.stepUp != stepUp else { return [] }
    life?.session.stepUp = stepUp
    // A record of a broker that has not got the newest tokens would replace them: the next one says it.
    let isOwed = !isShared
    life?.owesNote = isOwed
    return []
  }

  /// Writes down what is demanded, where nothing else is on its way to the store.
  mutating func noteDemand() -> [Action] {
    guard let session = living, mayNoteUse, !isSigningIn else { return [] }
    return writeNote(of: session)
  }

  /// Puts the last use into a session that is about to be written.
  mutating func note(in session: inout LivingSession, _ now: Moment) {
    life?.use.noted(at: now.uptime)
    write(life?.use.note, to: &session, now)
  }

  /// Writes a use into a session that is about to be written.
  func write(_ note: UseWatch.Note?, to session: inout LivingSession, _ now: Moment) {
    let time = note.map { now.wall + ($0.use - now.uptime) }
    session.lastUsedAt = note?.isExact == true ? time : nil
    session.roughlyUsedAt = note?.isExact == false ? time : nil
    session.lastUsedUptime = boot != nil && session.clock?.boot == boot ? note?.use : nil
  }
}
