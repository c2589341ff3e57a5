import BrokerProtocol

/// Tokens that are durable, or could not be saved.
extension SessionMachine {
  /// Adopts tokens that are saved, or that the provider has already rotated although they could not be saved.
  mutating func adopt(_ generation: UInt64, isDurable: Bool, _ now: Moment) -> [Action] {
    if isDurable {
      settledGeneration = max(settledGeneration, generation)
      restingGeneration = max(restingGeneration, generation)
      if let ending, ending.generation <= generation { self.ending = nil }
      logins.noteSaved(generation)
    }
    if let (login, isNewest) = logins.take(generation) {
      if isDurable { return begin(login: login, now) }
      return isNewest ? goOnWithoutLogin(generation, now) : []
    }
    let wasDegraded = isStoreDegraded
    adoptDescription(generation, isDurable: isDurable)
    if let saving = life?.saving, saving.generation == generation {
      life?.unsavedEvents = isDurable ? nil : saving.events
      if let other = saving.other { return begin(other, saving, now) }
      if let rejection = saving.rejection { return begin(rejection, saving, now) }
      life?.take(saving)
      followClocks(now)
      return goOn(now, isLogin: false)
    }
    if life?.notedGeneration == generation { return adoptNote(generation, isDurable: isDurable) }
    guard wasDegraded, generation == self.generation else { return [] }
    if isDurable {
      life?.unsavedEvents = nil
      return serveWaiting(now)
    }
    let amended = amendUnsaved()
    guard !demands.isEmpty else { return amended }
    // The tokens of the last refresh do not rest in the store yet, so none can begin.
    return settle(BrokerError(unwritten: profile, isShared: isShared), now) + amended
  }

  /// Goes on without a record that was refused.
  mutating func refuse(_ generation: UInt64, _ lost: UInt64?, _ now: Moment) -> [Action] {
    let actions = adopt(generation, isDurable: false, now) + endAgain(generation, lost)
    guard let lost else { return actions }
    // Tokens that may not be written hold here alone, too: until they end, or there is a login.
    if life?.unsavedEvents != nil, generation == self.generation {
      life?.unsavedEvents = nil
      settledGeneration = generation
    }
    goBehind(lost)
    return actions
  }

  /// Counts on from the newest generation that there was, where the store has gone back: what comes next is to hold for all.
  mutating func goBehind(_ lost: UInt64) {
    guard settledGeneration == generation, generation < lost else { return }
    (generation, settledGeneration) = (lost, lost)
  }

  /// Writes an end once more in whose place another record stays that is no newer one: this broker's own has come before it.
  ///
  /// Where the store has gone back, a logout is written behind everything that was lost; any other end holds here alone.
  private mutating func endAgain(_ generation: UInt64, _ lost: UInt64?) -> [Action] {
    guard let ending, ending.generation == generation, generation == self.generation else { return [] }
    self.generation = max(generation, lost ?? 0)
    if case .signedOut = ending.contents { return [saveEnd(ending.contents, ending.events)] }
    if lost == nil, ending.followed < restingGeneration { return [saveEnd(ending.contents, ending.events)] }
    self.ending = nil
    settledGeneration = self.generation
    return []
  }

  /// Drops a note of the last use that could not be saved: the next one says more.
  ///
  /// A warning with it is told all the same, and once more after a restart if no later record could be saved either.
  private mutating func adoptNote(_ generation: UInt64, isDurable: Bool) -> [Action] {
    life?.notedGeneration = nil
    let warning = life?.notedWarning
    life?.notedWarning = nil
    guard !isDurable else { return [] }
    if generation == self.generation { settledGeneration = generation }
    life?.use.noteFailed()
    return warning.map { [.publish($0)] } ?? []
  }

  /// Continues the session from before a login that could not be saved, with the events that it missed meanwhile.
  private mutating func goOnWithoutLogin(_ generation: UInt64, _ now: Moment) -> [Action] {
    if generation == self.generation { settledGeneration = generation }
    logins.noteRefused(generation)
    var actions = overwriteLogin(now)
    if let answer = life?.heldAnswer {
      life?.heldAnswer = nil
      actions += handle(answer, at: now, jitter: jitter)
    }
    if isIdleOver(at: now) { return actions + endIdle(now) }
    return actions + serveWaiting(now) + failFirstSaving()
  }

  /// Writes the state from before a login once more: the refused record may rest in the store all the same, as a commit
  /// that reports an error may be durable, and the next start must not restore it.
  ///
  /// A record closes the intent of a refresh, so none is written while one is open: that of the refresh follows, or this one
  /// does where it brings nothing. Nor is one where others may have newer tokens, but for what does not rest there yet.
  mutating func overwriteLogin(_ now: Moment) -> [Action] {
    if life == nil, let ending { return [saveEnd(ending.contents, ending.events)] }
    guard !isShared || isStoreDegraded else { return [] }
    guard let life else { return [saveEnd(contents(at: now), [])] }
    guard life.saving == nil, life.heldAnswer == nil, !refresh.isUnderWay, !isOutcomeUnknown || isStoreDegraded else {
      return []
    }
    let events = life.unsavedEvents ?? []
    self.life?.unsavedEvents = events
    generation += 1
    return [.save(record(.living(life.session)), announcing: events)]
  }

  private mutating func begin(login: TokensBeingSaved, _ now: Moment) -> [Action] {
    var revocations: [Action] = []
    if mayShareGrant(login) {
      lateFlights = []
    } else {
      revocations = revocationOfNewestTokens
      noteLateFlight(isReplaced: true)
    }
    var use = UseWatch(rules)
    use.begin(at: now.uptime)
    var life = SessionLife(login.session, TokenDating(askedAt: login.since), use)
    life.isOwnGrant = !login.isTakeover
    phase = .living(life)
    followClocks(now)
    _ = refresh.handle(.began, terms, at: now)
    return goOn(now, isLogin: true) + revocations
  }

  /// Whether the end of the present session's tokens could be the end of a login that is about to replace it.
  ///
  /// It could where the new session has the same tokens; and where its tokens came for a refresh token that a client has
  /// given, unless another user's: that token may be of the very grant that the old session lives by, and a provider ends
  /// the whole grant (RFC 7009, section 2.1; RFC 9700, section 4.14.2). A session that a user has begun here lives by a
  /// grant of its own: no refresh token of it has left this process.
  private func mayShareGrant(_ login: TokensBeingSaved) -> Bool {
    let new = login.session
    if let old = newestTokens {
      let hasSameRefreshToken = old.refreshToken != nil && old.refreshToken == new.tokens.refreshToken
      if old.accessToken == new.tokens.accessToken || hasSameRefreshToken { return true }
    }
    guard login.isTakeover, life?.isOwnGrant != true else { return false }
    guard let user = living?.user?.id, let other = new.user?.id else { return true }
    return user == other
  }

  /// Revokes the newest tokens, saved or not, of the session that a login is about to replace.
  ///
  /// Nothing is revoked where the provider has just ended the session by refusing its refresh token. A refusal for
  /// another target does not show that, nor one of a token that a lost reply may have spent.
  private var revocationOfNewestTokens: [Action] {
    guard let life else { return [] }
    if case .refreshFailed(_, .sessionEnded) = life.heldAnswer, life.flightTarget == nil, !isOutcomeUnknown {
      return []
    }
    let old = life.newestTokens
    return [.revokeReplaced(old, user: old.subject ?? life.session.user?.id)]
  }

  /// Notes the flight of a session that is about to go, if its answer has not come.
  mutating func noteLateFlight(isReplaced: Bool) {
    guard case .sent(let flight, _) = refresh.state, life?.heldAnswer == nil else { return }
    lateFlights.append(LateFlight(flight: flight, user: living?.user?.id, isReplaced: isReplaced))
  }

  /// Whether these are tokens that the present session, or one that is being saved, lives by.
  func isPresent(_ tokens: TokenSet) -> Bool {
    let present = [living?.tokens, life?.saving?.session.tokens].compactMap(\.self) + logins.tokens
    return present.contains { known in
      known.accessToken == tokens.accessToken
        || known.refreshToken != nil && known.refreshToken == tokens.refreshToken
    }
  }

  /// Continues with tokens that have become the session's, and serves the callers that wait.
  ///
  /// Those of a refresh are the best there are, however long a caller wants them to live; those of a login are
  /// refreshed for a caller that needs them for longer.
  private mutating func goOn(_ now: Moment, isLogin: Bool) -> [Action] {
    answerVersion += 1
    _ = refresh.handle(.settled, terms, at: now)
    plan(now)
    refuseDoubted(now)
    let waiting = demands + demandsForLogin
    if isReadStale {
      (demands, demandsForLogin) = (waiting, [])
      return readStale(now)
    }
    demands = waiting.filter { otherTarget(of: $0) != nil }
    demandsForLogin = []
    let served = waiting.filter { otherTarget(of: $0) == nil }
    guard isServable(at: now) else {
      let error = BrokerError(.timeout, "The tokens had expired before they arrived.", profile: profile)
      return served.map { .answerError($0.waiter, error) } + serveOthers(now)
    }
    guard isLogin else { return served.map { .answerToken($0.waiter, marks($0)) } + serveOthers(now) }
    demands += served.filter { !serves($0, at: now) }
    let content = served.filter { serves($0, at: now) }
    return content.map { .answerToken($0.waiter, marks($0)) } + serveOthers(now)
  }
}
