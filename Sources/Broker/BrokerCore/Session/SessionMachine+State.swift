import BrokerProtocol

/// Queries about the machine's state.
extension SessionMachine {
  /// When tokens are good enough.
  var policy: ExpiryPolicy {
    var policy = rules.expiry
    // A program that gives a secret may ask a person for a passphrase: it runs where someone wants the secret.
    if isConfigured { policy.refreshesInBackground = false }
    return policy
  }

  /// The state that exists only while the session has tokens; nil where there is none.
  ///
  /// Setting it changes the living session, and does nothing where there is none: a session begins and ends with its
  /// phase.
  var life: SessionLife? {
    get {
      guard case .living(let life) = phase else { return nil }
      return life
    }
    set {
      if let newValue, case .living = phase { phase = .living(newValue) }
    }
  }

  /// The session's tokens and the facts about it; nil where there is none.
  package var living: LivingSession? { life?.session }

  /// Whether a login is being saved.
  var isSigningIn: Bool { logins.newest != nil }

  /// The session that clients use, or are about to; nil where there is none, or a login must replace it.
  func sessionInUse(at now: Moment) -> LivingSession? {
    if let login = logins.newest { return login.session }
    return isShownExpired || isSpent(at: now) ? nil : living
  }

  /// The session to park where the configuration signs it out: with the newest tokens, saved or not; nil where no token
  /// could be had of it.
  func sessionToPark(at now: Moment) -> LivingSession? {
    guard let life, !isSpent(at: now) else { return nil }
    var session = life.saving?.session ?? life.session
    session.user = newestUser
    session.stepUp = life.session.stepUp
    return session
  }

  /// Whether the record of this generation is that of a login that is being saved.
  func isLogin(_ generation: UInt64) -> Bool { logins.contains(generation) }

  /// Whether there is a session at the provider, or one whose login is just being saved.
  var hasSession: Bool { life != nil || isSigningIn }

  /// Whether the newest tokens could not be saved yet.
  package var isStoreDegraded: Bool { life?.unsavedEvents != nil }

  /// The work under way.
  package var activity: Activity {
    if let saving = life?.saving { return .saving(saving.session, generation: saving.generation) }
    switch refresh.state {
    case .resting, .saving, .awaitingOther: return .resting
    case .preparing(let flight): return .preparing(flight: flight)
    case .sent(let flight, _): return .refreshing(flight: flight)
    case .backingOff(let until, let error, _): return .backingOff(until: until, error)
    case .barred(let until, _): return .barred(until: until)
    case .holdingBack:
      let error = BrokerError(.refreshOutcomeUnknown, profile: profile)
      return .backingOff(until: tokenLife?.accessEnd?.uptime ?? Self.never, error)
    }
  }

  /// An uptime that no machine reaches: a century.
  private static let never = Duration.seconds(3_155_760_000)

  /// Whether the refresh token may be spent without its successor being here; its intent is open in the store.
  package var isOutcomeUnknown: Bool { refresh.lost != nil }

  /// The flight that was sent, and whose answer is still to come; nil where there is none.
  var flightUnderWay: FlightUnderWay? {
    guard case .sent = refresh.state else { return nil }
    return FlightUnderWay(refresh: refresh, target: life?.flightTarget)
  }

  /// Whether a refresh token is about to be sent.
  var mayStillSpend: Bool {
    switch refresh.state {
    case .preparing, .sent: true
    case .resting, .saving, .awaitingOther, .backingOff, .barred, .holdingBack: false
    }
  }

  /// The state of the newest refresh.
  package var refreshState: RefreshMachine.State { refresh.state }

  /// The planned background refresh.
  package var scheduleState: RefreshSchedule.State { life?.schedule.state ?? .off }

  /// When the access token expires, on both clocks; nil where there is none, or it does not expire.
  package var accessTokenEnd: Deadline? { tokenLife?.accessEnd }

  /// When the session ends for want of use, in uptime; nil where it does not.
  package var idleEnd: Duration? { life?.use.idleEnd }

  /// Whether the next use of the session must reach the machine, and not be answered from a rendered answer.
  package var mustSeeNextUse: Bool {
    guard let life else { return false }
    if case .leftAlone = life.schedule.state { return true }
    return life.use.isWaitingForUse || life.doubtEnds != nil
  }

  /// When the session's tokens end; nil where there is no session.
  var tokenLife: TokenLife? { life?.tokens }

  /// The conversion of the tokens' times to the present clocks; nil where there is no session.
  var dating: TokenDating? { life?.dating }

  /// Whether there is a session of which no token can be had: see ``TokenLife/isSpent(at:)``.
  func isSpent(at now: Moment) -> Bool { life?.tokens.isSpent(at: now) ?? false }

  /// Whether the provider cannot be reached, as far as it was tried: the one truth of the state and of every answer.
  package var isOffline: Bool { life != nil && (refresh.isOffline || isStoreAway) }

  /// Whether a session has ended for want of use; false where there is none.
  func isIdleOver(at now: Moment) -> Bool { life?.isIdleOver(at: now) ?? false }

  /// The facts about the session that a refresh depends on.
  var terms: RefreshMachine.Terms {
    // What replies have shown may change; what was said may not.
    let (rotates, isJournaled) =
      switch rules.rotation {
      case .always: (true, true)
      case .never: (false, false)
      case .auto: (living?.mayRotate ?? true, living?.rotatesRefreshToken != false)
      }
    return RefreshMachine.Terms(
      generation: isShared ? restingGeneration : generation, rotates: rotates, isJournaled: isJournaled,
      grace: rules.rotationGrace, accessEnd: tokenLife?.accessEnd,
      isAccessTokenRefused: life?.isAccessTokenRefused ?? false, isShared: isShared)
  }

  /// Whether the access token may be served: neither expired, nor refused while its successor is unknown.
  func isServable(at now: Moment) -> Bool {
    guard let tokenLife else { return false }
    return isOutcomeUnknown ? terms.servesAccessToken(at: now) : tokenLife.isAlive(at: now)
  }

  /// The newest tokens of the session, shown to clients or not; nil where there is none.
  var newestTokens: TokenSet? { life?.newestTokens }

  /// Whether tokens may come, or have come, that do not rest in the store yet.
  var isUnsettled: Bool {
    life?.saving != nil || refresh.isUnderWay || isStoreDegraded || isDescribing || ending != nil
  }

  /// A record as it is written to a store that other brokers share, behind all that this one has written there before.
  func following(_ record: SessionRecord) -> SessionRecord {
    var record = record
    if case .signedOut = record.contents { return record }
    if !isLogin(record.generation) { record.followed = restingGeneration }
    return record
  }

  /// Whether the tokens of a record that was refused are the newest that there are: nothing newer was taken up.
  func holdsAlone(_ record: SessionRecord) -> Bool {
    guard case .living = record.contents, !isLogin(record.generation) else { return false }
    return record.generation == generation && settledGeneration < generation
  }

  /// Whether a record that could not be saved is still the newest, and worth another try.
  ///
  /// A login that could not be saved was answered with the error, so it is over.
  func wantsSaved(_ record: SessionRecord) -> Bool {
    guard record.generation == generation else { return false }
    guard case .living = record.contents else { return true }
    return isStoreDegraded
  }
}

/// When the machine wants to be woken.
extension SessionMachine {
  /// When the machine wants to be woken; nil where nothing is to come.
  package func nextWake(at now: Moment) -> Duration? {
    guard let life, !isSigningIn else { return nil }
    guard life.saving == nil, !refresh.isUnderWay else { return life.use.idleEnd }
    let tokens = life.tokens
    let note = mayNoteUse(of: life) ? (logins.refused == nil ? life.use.noteDue : now.uptime) : nil
    // That nothing can be had of the session any more is told once.
    let end = tokens.isRefreshable || life.toldEnd ? nil : tokens.accessEnd?.comes(at: now)
    let warning = Self.earlier(end, endWarning(of: life, at: now)?.comes(at: now))
    let next = Self.earlier(
      Self.earlier(nextTry(life, tokens, now), warning), Self.earlier(life.use.idleEnd, note))
    // What is due already was not slept through.
    return next.map { max($0, now.uptime) }
  }

  private static func earlier(_ one: Duration?, _ other: Duration?) -> Duration? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  /// When the machine will want new tokens without being asked for them.
  private func nextTry(_ life: SessionLife, _ tokens: TokenLife, _ now: Moment) -> Duration? {
    guard life.unsavedEvents == nil, tokens.isRefreshable else { return nil }
    if case .awaitingOther(let until) = refresh.state, !demands.isEmpty { return until }
    guard policy.refreshesInBackground else { return nil }
    switch refresh.state {
    case .preparing, .sent, .saving: return nil
    case .resting: return life.schedule.nextWake(at: now).map { max($0, providerRest) }
    case .backingOff(let until, _, _), .barred(let until, _), .awaitingOther(let until):
      return refreshesUnasked(now) ? max(until, providerRest) : nil
    case .holdingBack:
      return terms.servesAccessToken(at: now) ? tokens.accessEnd?.comes(at: now) : max(now.uptime, providerRest)
    }
  }

  /// Whether a retry is worth it without a waiting caller: a client uses the session, or it depends on the answer.
  func refreshesUnasked(_ now: Moment) -> Bool {
    policy.refreshesInBackground
      && (isOutcomeUnknown || isShownExpired || life?.isInUse(at: now) ?? false)
  }
}
