import BrokerProtocol

/// Sending the refresh token, and writing its intent before.
extension RefreshMachine {
  /// Sends the token, unless it is on its way, or something speaks against it.
  mutating func want(_ terms: Terms, _ now: Moment, isCounted: Bool) -> [Action] {
    if isUnderWay || isAwaitingOther(at: now) { return [] }
    // What was not sent for another broker's sake was counted then.
    if case .awaitingOther = state { return begin(terms, now, isCounted: false) }
    if let error = refusal(terms, at: now, isForTarget: !isCounted) { return [.refuse(error)] }
    return begin(terms, now, isCounted: isCounted)
  }

  /// Begins a flight, unless the breaker is open or a session could be lost by it.
  mutating func begin(_ terms: Terms, _ now: Moment, isCounted: Bool = true) -> [Action] {
    let isReplay = lost?.mayBeReplayed(within: terms.grace, at: now) ?? false
    let servesAccessToken = terms.servesAccessToken(at: now)
    if lost != nil, servesAccessToken, !isReplay {
      state = .holdingBack
      return [.refuse(outcomeUnknown(terms, now))]
    }
    if isCounted, let wait = budget.spend(at: now.uptime) { return [openBreaker(for: wait, now)] }
    flights += 1
    if isReplay, !terms.hasAccessTokenEnded(at: now) {
      // Something can still be lost by a second replay: it is written down before that this one was.
      state = .preparing(flight: flights)
      return [.openIntent(flight: flights, intent(terms, LostReply.replayMark))]
    }
    // The intent of the lost refresh is still open; a token that is certainly not rotated needs none.
    if !terms.isJournaled || lost != nil && !terms.isShared { return send(now) }
    state = .preparing(flight: flights)
    return [.openIntent(flight: flights, intent(terms, lost == nil ? now.wall : LostReply.replayMark))]
  }

  /// Sends nothing for a while, and reports so once; callers that come meanwhile get the same error.
  private mutating func openBreaker(for wait: Duration, _ now: Moment) -> Action {
    var error = BrokerError(
      .rateLimited, "The session was refreshed too often within a minute; wait.", profile: profile)
    if lost != nil { error = BrokerError(.refreshOutcomeUnknown, profile: profile) }
    error.retryAfter = wait
    state = .barred(until: now.uptime + wait, error)
    // A flight for a target may have come in between.
    guard barredUntil <= now.uptime else { return .refuse(error) }
    barredUntil = now.uptime + wait
    return .report(error, nextAttemptAt: now.wall + wait)
  }

  /// Waits for a while because there is no memory for the reply; the token is unspent.
  mutating func doWithout(_ flight: UInt64, _ jitter: Double, _ terms: Terms, _ now: Moment) -> [Action] {
    switch state {
    case .preparing(flight): break
    case .sent(flight, _): lost?.isReplayed = false
    default: return []
    }
    let error = BrokerError(.overloaded, BrokerError.secretMemoryMessage, profile: profile)
    return backOff(Failure(error), jitter, terms, now)
  }

  private func intent(_ terms: Terms, _ startedAt: Timestamp) -> RefreshIntent {
    RefreshIntent(
      profile: profile, generation: terms.generation, startedAt: startedAt,
      knowsRepetition: lost?.isRepeatedElsewhere ?? false)
  }

  private mutating func send(_ now: Moment) -> [Action] {
    lost?.isReplayed = true
    state = .sent(flight: flights, at: now)
    return [.send(flight: flights)]
  }

  /// Sends the token: the intent to do so is durable.
  mutating func send(_ flight: UInt64, _ terms: Terms, _ now: Moment) -> [Action] {
    guard state == .preparing(flight: flight) else { return [] }
    hasIntent = true
    // A disk that was slow may have used up the grace.
    if let lost, terms.servesAccessToken(at: now), !lost.mayBeReplayed(within: terms.grace, at: now) {
      state = .holdingBack
      return [.refuse(outcomeUnknown(terms, now))]
    }
    return send(now)
  }

  /// How often in a row a token is sent again for another proof: a wrong clock and a nonce that has just been replaced may
  /// come together.
  static let mostProofs = 3

  /// Sends the token again, which the provider has refused for its proof alone (RFC 9449, section 8).
  ///
  /// Nothing was spent, so the intent is closed, and the next flight opens its own. Nil where that has happened too often in
  /// a row.
  mutating func sendAgain(_ terms: Terms, _ now: Moment) -> [Action]? {
    // A replay is still to come.
    lost?.isReplayed = false
    guard proofsWanted < Self.mostProofs else { return nil }
    proofsWanted += 1
    var actions: [Action] = []
    if lost == nil, hasIntent, !mayHaveSpent {
      hasIntent = false
      actions = [.closeIntent]
    }
    return actions + begin(terms, now, isCounted: false)
  }

  /// Does not send the token; the intent of an earlier one whose reply was lost stays open.
  mutating func cancel(_ flight: UInt64, _ terms: Terms, _ now: Moment) -> [Action] {
    guard state == .preparing(flight: flight) else { return [] }
    guard lost != nil else {
      state = .resting
      return [.closeIntent]
    }
    rest(terms, now)
    return []
  }

  /// Ends a flight whose token is unspent; the intent of an earlier one whose reply was lost stays open.
  mutating func land(_ flight: UInt64, _ terms: Terms, _ now: Moment) -> [Action] {
    guard case .sent(flight, _) = state else { return [] }
    failuresInARow = 0
    guard lost == nil else {
      rest(terms, now)
      return []
    }
    state = .resting
    guard hasIntent else { return [] }
    hasIntent = false
    return [.closeIntent]
  }

  /// Resumes after a restart with a token that was perhaps spent.
  ///
  /// The provider may just have begun to rotate, so only its documented rotation counts, and not the observed one.
  mutating func takeUp(_ startedAt: Timestamp, _ terms: Terms, _ now: Moment) -> [Action] {
    guard state == .resting, lost == nil else { return [] }
    guard terms.isJournaled else { return [.closeIntent] }
    let lost = LostReply(startedAt: startedAt, now: now)
    self.lost = lost
    if lost.mayBeReplayed(within: terms.grace, at: now) { return begin(terms, now) }
    rest(terms, now)
    return []
  }

  /// Notes that another broker has sent the token once more whose reply was lost.
  mutating func noteRepetition() { lost?.isRepeatedElsewhere = true }

  /// Waits for the end of the access token, or for nothing where it has ended.
  private mutating func rest(_ terms: Terms, _ now: Moment) {
    state =
      terms.servesAccessToken(at: now)
      ? .holdingBack : .backingOff(until: now.uptime, outcomeUnknown(terms, now), endsWith: nil)
  }
}
