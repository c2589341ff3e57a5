import BrokerProtocol

/// The events of a session that other brokers have as well: see ``RecordStore``.
extension SessionMachine {
  /// Takes in what the store says that other brokers share.
  mutating func takeFromOthers(_ event: Event, _ now: Moment) -> [Action] {
    switch event {
    case .intentHeld(let flight, let rest): return awaitOther(flight, rest, now)
    case .replacedElsewhere(let record, let intent): return takeUp(record, intent, now)
    case .storeReached(let isReached): isStoreAway = !isReached
    case .storeWentBack(let lost): goBehind(lost)
    default: break
    }
    return []
  }

  /// Does not send the refresh token, which another broker may be spending; what that brings is awaited, or the end of its
  /// lease.
  mutating func awaitOther(_ flight: UInt64, _ rest: Duration, _ now: Moment) -> [Action] {
    // A login that is being saved will replace the token.
    let event: RefreshMachine.Event =
      isSigningIn ? .cancelled(flight: flight) : .intentHeld(flight: flight, for: rest)
    // What was not written needs no closing.
    _ = refresh.handle(event, terms, at: now)
    return refresh.isAwaitingOther(at: now) ? serveMeanwhile(now) : serveWaiting(now)
  }

  /// Whether another broker may be spending the refresh token, and what that brings is awaited.
  func isAwaitingOther(at now: Moment) -> Bool { life != nil && refresh.isAwaitingOther(at: now) }

  /// Serves the callers for whom the living token is good; the others wait for what another broker's refresh brings.
  mutating func serveMeanwhile(_ now: Moment) -> [Action] {
    guard !isSigningIn, isServable(at: now) else { return [] }
    let isServed: (TokenDemand) -> Bool = { [self] in !$0.forcesRefresh && otherTarget(of: $0) == nil }
    let served = demands.filter(isServed)
    demands.removeAll(where: isServed)
    return served.map { .answerToken($0.waiter, marks($0)) }
  }

  /// Whether a record of another broker's is that of another session than the present one, or its end.
  func isOfOtherSession(_ record: SessionRecord) -> Bool {
    guard case .living(let new) = record.contents, let living, record.binding == binding else { return true }
    return new.authTime != living.authTime || new.user?.id != living.user?.id
  }

  /// Takes up what another broker has written, and tells of it as of what this one does itself: the tokens that it
  /// replaces are not sent any more, and what is still to come of them is not taken in.
  ///
  /// A logout here is written once more, over that.
  mutating func takeUp(_ record: SessionRecord, _ intent: RefreshIntent?, _ now: Moment) -> [Action] {
    guard record.generation > restingGeneration else {
      return record.generation == restingGeneration ? doubt(intent, now) : []
    }
    let isOther = isOfOtherSession(record)
    generation = max(generation, record.generation)
    settledGeneration = generation
    restingGeneration = record.generation
    let ending = self.ending
    self.ending = nil
    if let ending, case .signedOut = ending.contents, !record.contents.isSignedOut {
      return [saveEnd(ending.contents, ending.events)]
    }
    guard record.binding == binding else {
      return endHere(.signedOut, .logout(LogoutEvent(reason: .providerChanged)), isNews: living != nil, now)
    }
    guard case .living(let session) = record.contents else { return takeUpEnd(record, ending, now) }
    let isNew = living?.tokens.accessToken != session.tokens.accessToken
    let isBack = isOther || isShownExpired
    let event: EventPayload =
      isBack ? .login(LoginEvent(userID: session.user?.id, method: "elsewhere")) : refreshed(session)
    begin(session, isOther: isOther, now)
    return (isNew || isBack ? [.publish(event)] : []) + doubt(intent, now) + serveTakenUp(isNew: isNew, now)
  }

  /// Goes on with a session as another broker has written it.
  private mutating func begin(_ session: LivingSession, isOther: Bool, _ now: Moment) {
    var use = UseWatch(rules)
    use.begin(at: now.uptime)
    var new = SessionLife(session, TokenDating(session, boot: boot, verdict: clockVerdict, at: now), use)
    if !isOther, let life {
      new.use = life.use
      new.others = life.others
      new.suspectedEnd = life.suspectedEnd
    }
    if let note = lastNote(of: session, now) { new.use.used(at: min(note.use, now.uptime)) }
    new.plan(policy, jitter: jitter, at: now)
    phase = .living(new)
    answerVersion += 1
    _ = refresh.handle(isOther ? .began : .settled, terms, at: now)
  }

  private mutating func takeUpEnd(_ record: SessionRecord, _ ending: Ending?, _ now: Moment) -> [Action] {
    // A logout here as well, which was not told yet. Any other end gives way to the one that rests in the store.
    if let ending, case .signedOut = ending.contents { return ending.events.map { .publish($0) } }
    let isNews = ending != nil || living != nil
    switch record.contents {
    case .ended(let reason, _):
      let event = SessionExpiredEvent(reason: reason, message: reason.explanation)
      return endHere(.ended(reason), .sessionExpired(event), isNews: isNews, now)
    case .reauthenticationRequired:
      let event = SessionExpiredEvent(reason: .refreshRejected)
      return endHere(.reauthenticationRequired, .sessionExpired(event), isNews: isNews, now)
    case .signedOut, .living:
      return endHere(.signedOut, .logout(LogoutEvent(reason: .user)), isNews: isNews, now)
    }
  }

  /// Ends the session here, as another broker has written down, or may not be done here; what is being saved of a login
  /// goes on.
  ///
  /// `isNews` says that no end was told yet.
  private mutating func endHere(_ next: Phase, _ event: EventPayload, isNews: Bool, _ now: Moment) -> [Action] {
    let logins = self.logins
    let waiting = leave(to: next, now)
    self.logins = logins
    return (isNews ? [.publish(event)] : []) + refuse(waiting)
  }

  /// Notes that another broker has perhaps spent the refresh token, and its lease is over: as after a crash; where that is
  /// known, that it has perhaps sent it once more.
  private mutating func doubt(_ intent: RefreshIntent?, _ now: Moment) -> [Action] {
    guard let intent, intent.isAnothers, living != nil, !isStoreDegraded else { return [] }
    guard refresh.lost == nil else {
      if intent.followsLostReply { refresh.noteRepetition() }
      return []
    }
    switch refresh.state {
    case .sent, .saving: return []
    case .resting, .preparing, .awaitingOther, .backingOff, .barred, .holdingBack: break
    }
    _ = refresh.handle(.settled, terms, at: now)
    answerVersion += 1
    return run(refresh.handle(.intentFound(startedAt: intent.startedAt), terms, at: now), now) + serveWaiting(now)
  }

  /// Serves those who wait from what was taken up; a caller who insists on a new token has got one by that.
  private mutating func serveTakenUp(isNew: Bool, _ now: Moment) -> [Action] {
    demands += demandsForLogin
    demandsForLogin = []
    guard isServable(at: now), !refresh.isUnderWay, !isOutcomeUnknown else { return serveWaiting(now) }
    let served = demands.filter { demand in
      otherTarget(of: demand) == nil && (demand.forcesRefresh ? isNew : serves(demand, at: now))
    }
    demands.removeAll { demand in served.contains { $0.waiter == demand.waiter } }
    return served.map { .answerToken($0.waiter, marks($0)) } + serveWaiting(now)
  }
}

extension SessionRecord.Contents {
  /// Whether the session was ended by hand.
  fileprivate var isSignedOut: Bool { if case .signedOut = self { true } else { false } }
}
