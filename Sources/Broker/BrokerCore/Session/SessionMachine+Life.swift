import BrokerProtocol

/// The beginning and end of a session, and the answers about it.
extension SessionMachine {
  /// Restores the session from the store; a session with another binding is signed out, and sent nowhere.
  ///
  /// An open intent says that the record's refresh token may have been spent; one for an earlier generation is stale.
  /// One for a later generation is of the record's token as well: a login that could not be saved counts, and leaves
  /// the record as it was. Where its answer is still to come, the session waits for that, as it did before.
  mutating func restore(
    _ record: SessionRecord, _ intent: RefreshIntent?, _ flight: FlightUnderWay?, _ now: Moment
  ) -> [Action] {
    guard generation == 0 else { return [] }
    generation = record.generation
    settledGeneration = record.generation
    restingGeneration = record.generation
    switch record.contents {
    case .living(let session):
      guard record.binding == binding else {
        // It is the session of others, whose configuration is another one.
        if isShared { return [.publish(.logout(LogoutEvent(reason: .providerChanged)))] }
        return [saveEnd(contents(at: now), [.logout(LogoutEvent(reason: .providerChanged))], isKept: true)]
      }
      return takeUp(session, intent, flight, now)
    // What another provider wanted is nothing to a secret.
    case .ended where isConfigured, .reauthenticationRequired where isConfigured: phase = .signedOut
    case .ended(let reason, _): phase = .ended(reason)
    case .reauthenticationRequired: phase = .reauthenticationRequired
    case .signedOut: phase = .signedOut
    }
    return intent == nil ? [] : [.closeIntent]
  }

  private mutating func takeUp(
    _ session: LivingSession, _ intent: RefreshIntent?, _ flight: FlightUnderWay?, _ now: Moment
  ) -> [Action] {
    var use = UseWatch(rules)
    // Where an earlier version has written nothing of the use, its last refresh is the best that is known.
    use.restore(lastNote(of: session, now), orElse: now.uptime(of: session.issuedAt), at: now.uptime)
    let dating = TokenDating(session, boot: boot, verdict: clockVerdict, at: now)
    var life = SessionLife(session, dating, use)
    life.plan(policy, jitter: jitter, at: now)
    phase = .living(life)
    if life.isIdleOver(at: now) { return endIdle(now) }
    if let flight {
      refresh = flight.refresh
      refresh.hasIntent = intent != nil
      self.life?.flightTarget = flight.target
      return []
    }
    guard let intent else { return [] }
    guard intent.generation >= generation else { return [.closeIntent] }
    return run(refresh.handle(.intentFound(startedAt: intent.startedAt), terms, at: now), now)
  }

  /// When a stored session was last used, in uptime; nil where that was not written down.
  func lastNote(of session: LivingSession, _ now: Moment) -> UseWatch.Note? {
    guard let time = session.lastUsedAt ?? session.roughlyUsedAt else { return nil }
    let isExact = session.lastUsedAt != nil
    if let boot, session.clock?.boot == boot, let uptime = session.lastUsedUptime, uptime <= now.uptime {
      return UseWatch.Note(use: uptime, isExact: isExact)
    }
    return UseWatch.Note(use: now.uptime(of: time), isExact: isExact)
  }

  /// Notes that the record in the store cannot be trusted: only a login helps.
  ///
  /// Its generation cannot be trusted either, and the record of the login must be newer: it is counted on from the
  /// milliseconds since 1970, which no honest count comes near.
  mutating func mistrust(_ now: Moment) -> [Action] {
    guard generation == 0, case .signedOut = phase else { return [] }
    phase = .mistrusted
    generation = UInt64(max(now.wall.milliseconds, 1))
    settledGeneration = generation
    return []
  }

  /// Accepts the session of a login, which is not published before it is durable.
  ///
  /// The tokens that it replaces are revoked once it is: see ``Action/revokeReplaced(_:user:)``. The observed rotation
  /// of the provider stays known.
  ///
  /// The tokens' lives are counted from when they were asked for, as their provider counts: the wall clock may be set
  /// before they come.
  mutating func acceptLogin(
    _ session: ProviderSession, _ method: String, _ details: LoginDetails, _ sentAt: Moment, _ now: Moment
  ) -> [Action] {
    generation += 1
    var new = LivingSession(
      tokens: session.tokens, user: session.user, authTime: now.wall, issuedAt: sentAt.wall,
      lastValidatedAt: now.wall)
    new.clock = IssueClock(boot, at: sentAt, providerAhead: session.tokens.clockSkew)
    write(UseWatch.Note(use: now.uptime, isExact: rules.idleTimeout > .zero), to: &new, now)
    new.rotatesRefreshToken = session.rotatesRefreshToken ?? (living?.rotatesRefreshToken == true ? true : nil)
    new.revocation = session.seenHabit
    logins.begin(
      TokensBeingSaved(
        session: new, generation: generation, since: sentAt, isTakeover: method == LoginMethod.refreshToken.rawValue))
    var event = LoginEvent(userID: session.user?.id, method: method, clientContext: details.clientContext)
    event.beginners = details.beginners
    var events = [EventPayload.login(event)]
    if details.usesBackupCode {
      events.append(.backupCodeUsed(BackupCodeUsedEvent(remaining: session.backupCodesRemaining)))
    }
    return [.save(record(.living(new)), announcing: events)]
  }

  /// The record that says so, under the present generation.
  func record(_ contents: SessionRecord.Contents) -> SessionRecord {
    var record = SessionRecord(profile: profile, binding: binding, generation: generation, contents: contents)
    record.isKept = !isConfigured
    return record
  }

  /// Logs out: local state is gone at once, whatever the disk and the provider say.
  ///
  /// The caller of the logout has read ``newestTokens`` before, to have them revoked.
  mutating func logOut(_ reason: LogoutEvent.Reason, _ now: Moment) -> [Action] {
    let hadNothing = if case .signedOut = phase { !isSigningIn } else { false }
    let waiting = leave(to: .signedOut, now)
    var actions = waiting.map { Action.answerError($0.waiter, BrokerError(.loginRequired, profile: profile)) }
    // What they wait for was given up.
    if isUnattended { actions += endLoginWaits(BrokerError(.loginRequired, profile: profile)) }
    return hadNothing ? actions : actions + [saveEnd(contents(at: now), [.logout(LogoutEvent(reason: reason))])]
  }

  /// Ends the session because its provider has, for a known reason: it needs no revocation.
  mutating func endElsewhere(_ reason: LogoutEvent.Reason?, _ now: Moment) -> [Action] {
    guard life != nil else { return [] }
    guard let reason else { return end(.refreshRejected, alert: nil, now) }
    let waiting = leave(to: .signedOut, now)
    return [saveEnd(contents(at: now), [.logout(LogoutEvent(reason: reason))])] + refuse(waiting)
  }

  /// Ends the session by itself; `wantsUser` says that its provider wants the user to authenticate again.
  mutating func end(
    _ reason: SessionExpiredEvent.Reason, alert: SecurityAlertEvent.Kind?, wantsUser: Bool = false,
    said: ProviderLastWord = ProviderLastWord(), _ now: Moment
  ) -> [Action] {
    let waiting = leave(to: wantsUser ? .reauthenticationRequired : .ended(reason), now)
    var events: [EventPayload] = alert.map { [.securityAlert(SecurityAlertEvent(kind: $0))] } ?? []
    var event = SessionExpiredEvent(reason: reason, message: reason.explanation)
    event.lastWord = said
    events.append(.sessionExpired(event))
    return [saveEnd(contents(at: now), events)] + refuse(waiting)
  }

  /// The contents of the record for the present phase.
  func contents(at now: Moment) -> SessionRecord.Contents {
    switch phase {
    case .living(let life): .living(life.session)
    case .signedOut, .mistrusted: .signedOut(at: now.wall)
    case .ended(let reason): .ended(reason, at: now.wall)
    case .reauthenticationRequired: .reauthenticationRequired(at: now.wall)
    }
  }

  /// Makes the end of a session durable, under a generation of its own.
  ///
  /// `isKept` says that it replaces what rests in the store, whatever the profile is now.
  mutating func saveEnd(
    _ contents: SessionRecord.Contents, _ events: [EventPayload], isKept: Bool = false
  ) -> Action {
    generation += 1
    ending = Ending(contents: contents, events: events, generation: generation, followed: restingGeneration)
    var record = record(contents)
    record.isKept = record.isKept || isKept
    return .save(record, announcing: events)
  }

  /// Counts on from the machine of the same profile that it takes the place of.
  mutating func follow(_ earlier: SessionMachine) {
    generation = earlier.generation
    settledGeneration = earlier.settledGeneration
    restingGeneration = earlier.restingGeneration
    ending = earlier.ending
  }

  /// Refuses callers where no user is logged in; callers waiting for a login go on waiting.
  mutating func refuse(_ waiting: [TokenDemand]) -> [Action] {
    demandsForLogin += waiting.filter(\.waitsForLogin)
    return waiting.filter { !$0.waitsForLogin }.map { .answerError($0.waiter, loginError) }
  }

  /// Answers callers who wait for a login that they need not wait for any longer.
  mutating func endLoginWaits(_ error: BrokerError) -> [Action] {
    defer { demandsForLogin = [] }
    return demandsForLogin.map { .answerError($0.waiter, error) }
  }

  /// Leaves a phase, and with it everything that is known only in it; logins that are being saved are not waited for.
  ///
  /// - Returns: the callers that waited for a token, who are to be answered.
  mutating func leave(to next: Phase, _ now: Moment) -> [TokenDemand] {
    noteLateFlight(isReplaced: false)
    _ = refresh.handle(.ended, terms, at: now)
    phase = next
    logins.drop()
    first.cancel()
    isReadStale = false
    answerVersion += 1
    defer { demands = [] }
    return demands
  }

  /// Why there is no token where no user is logged in.
  var loginError: BrokerError {
    switch phase {
    case .living(let life) where life.session.tokens.refreshToken == nil:
      return BrokerError(
        .sessionExpired, SessionExpiredEvent.Reason.noRefreshToken.sentence, profile: profile)
    case .signedOut, .living: return BrokerError(.loginRequired, profile: profile)
    case .mistrusted:
      var error = BrokerError(
        .vaultTampered, "The stored session of this profile has been modified; log in again.",
        profile: profile)
      error.nextAction = .login
      return error
    case .reauthenticationRequired:
      return BrokerError(.reauthRequired, "The provider requires the user to authenticate again.", profile: profile)
    case .ended(let reason):
      let message = reason.explanation.map { $0 + " Log in again." } ?? reason.sentence
      return BrokerError(.sessionExpired, message, profile: profile)
    }
  }
}
