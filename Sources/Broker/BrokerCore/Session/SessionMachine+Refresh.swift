import BrokerProtocol

/// Serves token requests, joining or starting the single in-flight refresh.
extension SessionMachine {
  /// Serves a caller from the present token, or lets it wait for the one refresh.
  mutating func want(_ demand: TokenDemand, _ now: Moment) -> [Action] {
    guard living != nil else { return isUnattended ? wantFirst(demand, now) : refuse([demand]) }
    if isSpent(at: now), !isSigningIn { return (life?.toldEnd == true ? [] : tellEnd(now)) + refuse([demand]) }
    if isIdleOver(at: now) {
      guard isSigningIn else { return endIdle(now) + (isUnattended ? wantFirst(demand, now) : refuse([demand])) }
      demands.append(demand)
      return []
    }
    var actions = tellReturn(now) + noticeUse(now.uptime, now)
    if let target = otherTarget(of: demand) { return actions + want(target, demand, now) }
    if let error = refusal(ofReport: demand, now) { return actions + [.answerError(demand.waiter, error)] }
    if demand.isRefused, life?.isAccessTokenRefused == false {
      life?.isAccessTokenRefused = true
      answerVersion += 1
    }
    if !demand.forcesRefresh, serves(demand, at: now) {
      return actions + [.answerToken(demand.waiter, marks(demand))] + renew(now)
    }
    demands.append(demand)
    if demand.forcesRefresh { refresh.insist(at: now) }
    actions += refreshOrJoin(now)
    return actions
  }

  /// Serves the callers that still wait, as if they had just asked.
  mutating func serveWaiting(_ now: Moment) -> [Action] {
    guard living != nil, !demands.isEmpty else { return [] }
    return refreshOrJoin(now)
  }

  /// Begins the next flight, unless one is under way, or something else is to be waited for.
  mutating func refreshOrJoin(_ now: Moment) -> [Action] {
    // A login that is being saved will bring better tokens, or let the waiting go on.
    guard !isSigningIn, life?.saving == nil, !refresh.isUnderWay else { return [] }
    if refresh.isAwaitingOther(at: now) { return serveMeanwhile(now) }
    guard let error = refresh.refusal(terms, at: now) else { return startRefresh(now) }
    guard refresh.refusal(terms, at: now, isForTarget: true) == nil else { return settle(error, now) }
    // Only the session's own breaker is open.
    let targets = takeDemands { $0 != nil }
    let actions = settle(error, now)
    demands = targets
    return targets.isEmpty ? actions : actions + startRefresh(now)
  }

  /// Begins the one refresh, if there is a token to spend and the store can be trusted to keep the result.
  mutating func startRefresh(_ now: Moment) -> [Action] {
    guard let tokenLife else { return [] }
    guard tokenLife.isRefreshable else {
      let refused = refuseOthers()
      return refused + settle(BrokerError(.loginRequired, "The session cannot be refreshed.", profile: profile), now)
    }
    // The journal must name the token that rests in the store, so nothing is spent before the last one rests there.
    if isStoreDegraded { return [.saveAgain] }
    if !refresh.isUnderWay {
      let target = nextTarget
      life?.flightTarget = target
    }
    if let target = life?.flightTarget, let wait = life?.others.budgets.spend(target, at: now.uptime) {
      return bar(target, for: wait, now)
    }
    let isOwn = life?.flightTarget == nil && life?.doubtedTarget == nil
    return run(refresh.handle(isOwn ? .wanted : .wantedForTarget, terms, at: now), now)
  }

  /// Carries out the actions of the refresh machine.
  mutating func run(_ actions: [RefreshMachine.Action], _ now: Moment) -> [Action] {
    actions.flatMap { run($0, now) }
  }

  private mutating func run(_ action: RefreshMachine.Action, _ now: Moment) -> [Action] {
    switch action {
    case .openIntent(let flight, let intent): return [.openIntent(flight: flight, intent)]
    case .closeIntent: return [.closeIntent]
    case .send(let flight):
      guard let refreshToken = living?.tokens.refreshToken else { return [] }
      return [.spendRefreshToken(flight: flight, refreshToken, target: life?.flightTarget)]
    case .refuse(let error): return settle(error, now)
    case .report(let error, let nextAttemptAt):
      let event = RefreshFailedEvent(
        kind: error.kind.rawValue, retryable: error.isRetryable, nextAttemptAt: nextAttemptAt)
      return settle(error, now) + [.publish(.refreshFailed(event))]
    case .showEnd: return showEnd()
    case .end(let reason, let alert, let wantsUser, let said):
      if let suspectedEnd = life?.suspectedEnd, reason == .refreshRejected, alert == nil, !wantsUser {
        return endElsewhere(suspectedEnd, now)
      }
      // The provider has refused a token whose time was over: the usual reason, and no alarm.
      let isPlain = reason == .refreshRejected && alert == nil && !wantsUser
      let isOld = isPlain && life?.tokens.refreshEnd?.hasCome(at: now) == true
      return end(isOld ? .refreshTokenExpired : reason, alert: alert, wantsUser: wantsUser, said: said, now)
    }
  }

  /// Answers all callers that wait: with the living token where that serves, else with the error.
  mutating func settle(_ error: BrokerError, _ now: Moment) -> [Action] {
    let isExpired = isShownExpired
    let waiting = demands.filter { !isExpired || !$0.waitsForLogin }
    if isExpired { demandsForLogin += demands.filter(\.waitsForLogin) }
    demands = []
    let isServable = isServable(at: now)
    return waiting.map { demand in
      if let target = otherTarget(of: demand) { return settle(error, demand, target, now) }
      return isServable && !demand.forcesRefresh
        ? .answerToken(demand.waiter, marks(demand)) : .answerError(demand.waiter, error)
    }
  }

  /// Sends the refresh token: the intent to do so is durable.
  mutating func spend(_ flight: UInt64, _ now: Moment) -> [Action] {
    // A login that is being saved will replace the token: it is not worth spending.
    let event: RefreshMachine.Event =
      isSigningIn ? .cancelled(flight: flight) : .intentSaved(flight: flight)
    return run(refresh.handle(event, terms, at: now), now)
  }

  /// Does not send the refresh token: without a durable intent, a crash would look like a lost session.
  mutating func refuseToSpend(_ flight: UInt64, _ now: Moment) -> [Action] {
    guard !isSigningIn else {
      // What could not be written needs no closing.
      _ = refresh.handle(.cancelled(flight: flight), terms, at: now)
      return []
    }
    return run(refresh.handle(.intentFailed(flight: flight, jitter: jitter), terms, at: now), now)
  }

  /// Does not send the refresh token: its reply could not be kept.
  mutating func doWithout(_ flight: UInt64, _ now: Moment) -> [Action] {
    _ = takeLateFlight(flight)
    return run(refresh.handle(.noRoom(flight: flight, jitter: jitter), terms, at: now), now)
  }

  /// Takes in new tokens, which no client sees before they are saved.
  ///
  /// Those of another user end the session. Those of a flight that no session waits for any more are revoked: the session
  /// has been logged out, has ended, or was replaced by a login meanwhile.
  mutating func acceptRefresh(_ flight: UInt64, _ tokens: TokenSet, _ sentAt: Timestamp, _ now: Moment) -> [Action] {
    guard case .sent(flight, let since) = refresh.state, let session = living else {
      return acceptLate(flight, tokens)
    }
    guard !isSigningIn else {
      life?.heldAnswer = .refreshSucceeded(flight: flight, tokens, sentAt: sentAt)
      return []
    }
    if let subject = tokens.subject, let user = session.user, user.id != subject {
      // A client that uses them acts as another user; and the session's own refresh token is spent.
      let failure = ProviderFailure.sessionEnded(.securityTermination, alert: .subjectMismatch)
      let end = run(refresh.handle(.failed(flight: flight, failure, jitter: 1), terms, at: now), now)
      return [.discard(tokens, withNextRecord: true)] + end
    }
    if let actions = confirm(tokens, of: flight, now) { return actions }
    _ = refresh.handle(.succeeded(flight: flight), terms, at: now)
    if let target = life?.flightTarget { return take(tokens, for: target, into: session, sentAt, since: since, now) }
    let isRotated = tokens.refreshToken != nil && tokens.refreshToken != session.tokens.refreshToken
    var taught = session
    // The first that says so: whatever comes later is compared with it.
    if taught.user == nil { taught.user = tokens.subject.map { User(id: $0) } }
    taught.noteReply(isRotated: isRotated)
    return take(tokens, into: taught, sentAt, since: since, now)
  }

  /// Revokes tokens that came for a session which is gone.
  private mutating func acceptLate(_ flight: UInt64, _ tokens: TokenSet) -> [Action] {
    let late = takeLateFlight(flight)
    if living == nil, !isSigningIn { return [.discard(tokens, withNextRecord: false)] }
    guard let late, !isPresent(tokens) else { return [] }
    return late.isReplaced
      ? [.revokeReplaced(tokens, user: tokens.subject ?? late.user)] : [.discard(tokens, withNextRecord: false)]
  }

  /// Takes a flight, whose answer has come, out of the late ones; nil where it is none of them.
  private mutating func takeLateFlight(_ flight: UInt64) -> LateFlight? {
    lateFlights.firstIndex { $0.flight == flight }.map { lateFlights.remove(at: $0) }
  }

  /// Takes in a failure.
  mutating func failRefresh(_ flight: UInt64, _ failure: ProviderFailure, _ now: Moment) -> [Action] {
    _ = takeLateFlight(flight)
    guard case .sent(flight, _) = refresh.state, living != nil else { return [] }
    guard !isSigningIn else {
      life?.heldAnswer = .refreshFailed(flight: flight, failure)
      return []
    }
    if let target = life?.flightTarget, !failure.wantsProof {
      // Whatever follows, a replay or another try, is for the session itself.
      life?.flightTarget = nil
      if let actions = refuse(target, flight, failure, now) { return actions }
    }
    if case .rotated(let rotated) = failure, let actions = keep(rotated, flight, now) { return actions }
    let wasUnknown = isOutcomeUnknown
    let actions = refresh.handle(.failed(flight: flight, failure, jitter: jitter), terms, at: now)
    if isOutcomeUnknown != wasUnknown { answerVersion += 1 }
    if !refresh.isUnderWay { life?.flightTarget = nil }
    let answers = run(actions, now)
    forgiveStaleRead(now)
    return answers
  }

  /// Adopts tokens that came with a changed password: the user has authenticated by it.
  ///
  /// A refresh that is under way spends a token that the provider no longer knows: its answer is not waited for. While
  /// a login is being saved they are held: they are worth something only if it fails.
  mutating func replaceTokens(_ tokens: TokenSet, _ sentAt: Moment, _ now: Moment) -> [Action] {
    guard var session = life?.saving?.session ?? living else { return [] }
    life?.forgetOthers()
    _ = refresh.handle(.replaced, terms, at: now)
    guard !isSigningIn else {
      life?.heldAnswer = .tokensReplaced(tokens, sentAt: sentAt)
      return []
    }
    session.authTime = now.wall
    return take(tokens, into: session, sentAt.wall, since: sentAt, now)
  }

  private mutating func take(
    _ tokens: TokenSet, into session: LivingSession, _ sentAt: Timestamp, since: Moment, _ now: Moment
  ) -> [Action] {
    var session = session
    var merged = tokens
    merged.subject = nil
    session.refreshTokenIssuedAt = refreshTokenIssued(tokens, sentAt)
    if session.refreshTokenIssuedAt == sentAt { session.isEndTold = false }
    if merged.accessTokenExpiresAt == nil, session.tokens.refreshToken != nil || merged.refreshToken != nil {
      // What is not said stays as it was: too early an end costs a refresh, none at all costs callers a refusal.
      merged.accessTokenExpiresAt = session.tokens.accessTokenExpiresAt.map { sentAt + ($0 - session.issuedAt) }
    }
    if merged.refreshToken == nil {
      merged.refreshToken = session.tokens.refreshToken
      merged.refreshTokenExpiresAt = shown(session.tokens.refreshTokenExpiresAt)
    }
    if merged.scopes.isEmpty { merged.scopes = session.tokens.scopes }
    // A reply to a refresh need not have one (OpenID Connect Core, section 12.2): the login's stays true.
    merged.idToken = merged.idToken ?? session.tokens.idToken
    session.tokens = merged
    session.issuedAt = sentAt
    session.clock = IssueClock(boot, at: since, providerAhead: tokens.clockSkew)
    session.lastRefreshAt = now.wall
    session.lastValidatedAt = now.wall
    note(in: &session, now)
    var events = [refreshed(session)]
    beginRecord(of: &session, &events)
    // What was told to have ended goes on.
    if isShownExpired { events.append(.login(LoginEvent(userID: session.user?.id, method: "refresh"))) }
    let saving = TokensBeingSaved(session: session, generation: generation, since: since, events: events)
    life?.saving = saving
    return [.save(record(.living(session)), announcing: events)]
  }

  /// The event about new tokens.
  func refreshed(_ session: LivingSession) -> EventPayload {
    let tokens = session.tokens
    return .tokenRefreshed(
      TokenRefreshedEvent(tokenID: tokenID(tokens.accessToken.value), expiresAt: tokens.accessTokenExpiresAt))
  }
}

/// Freshness of the session's token for its callers.
extension SessionMachine {
  /// For how long a caller wants the token to live.
  func want(of demand: TokenDemand) -> Duration { demand.minValidity ?? policy.skew }

  /// Whether the session's token serves a caller; one that cannot be refreshed does for as long as it lives.
  func serves(_ demand: TokenDemand, at now: Moment) -> Bool {
    guard let life, !life.isOutdated, !isDoubted(at: now), isServable(at: now) else { return false }
    return !life.tokens.isRefreshable || life.freshness.verdict(for: want(of: demand), at: now) != .stale
  }

  /// The marks beside the session's token.
  func marks(_ demand: TokenDemand) -> TokenMarks {
    let isCapped = life?.freshness.caps(want(of: demand).milliseconds) ?? false
    return TokenMarks(isOffline: isOffline, isCapped: isCapped)
  }

  /// Has a refresh token renewed whose time has come, because a caller uses the session: nothing waits for it.
  mutating func renew(_ now: Moment) -> [Action] {
    guard let due = life?.renewal.refresh, due.hasCome(at: now), case .resting = refresh.state, !isStoreDegraded,
      life?.saving == nil, !isSigningIn
    else { return [] }
    return startRefresh(now)
  }

  /// The time from which on the refresh token has its present expiry: a reply that puts the expiry off by about the
  /// time since then has begun a new life.
  func refreshTokenIssued(_ tokens: TokenSet, _ sentAt: Timestamp) -> Timestamp? {
    guard let session = living else { return nil }
    let known = shown(session.refreshTokenIssuedAt ?? session.issuedAt)
    guard let known, let old = shown(session.tokens.refreshTokenExpiresAt) else { return sentAt }
    guard tokens.refreshToken != nil, let new = tokens.refreshTokenExpiresAt else {
      // Another token of which no end is known has none.
      return tokens.refreshToken == nil ? known : sentAt
    }
    return new - old >= (sentAt - known) / 2 ? sentAt : known
  }
}
