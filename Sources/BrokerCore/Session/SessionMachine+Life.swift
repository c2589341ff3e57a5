import BrokerProtocol

/// How a session begins, ends, and is answered for.
extension SessionMachine {
  /// Takes up what rested in the store; a session that is bound to another place is signed out, and sent nowhere.
  ///
  /// An open intent says that the record's refresh token may have been spent; one for an earlier generation is stale.
  /// One for a later generation is of the record's token as well: a login that could not be saved counts, and leaves the
  /// record as it was.
  mutating func restore(_ record: SessionRecord, _ intent: RefreshIntent?, _ now: Moment) -> [Action] {
    guard generation == 0 else { return [] }
    generation = record.generation
    settledGeneration = record.generation
    switch record.contents {
    case .living(let session): phase = .living(session)
    case .ended(let reason, _): phase = .ended(reason)
    case .signedOut: phase = .signedOut
    }
    guard case .living(let session) = phase else { return intent == nil ? [] : [.closeIntent] }
    guard record.binding == binding else {
      phase = .signedOut
      generation += 1
      let event = EventPayload.logout(LogoutEvent(reason: .providerChanged))
      return [.save(self.record(.signedOut(at: now.wall)), announcing: [event])]
    }
    guard let intent else { return [] }
    guard intent.generation >= record.generation else { return [.closeIntent] }
    waitForOutcome(session, now)
    return []
  }

  /// Takes up that the record in the store cannot be trusted: only a login helps.
  ///
  /// Its generation cannot be trusted either, and the record of the login must be newer: it is counted on from the
  /// milliseconds since 1970, which no honest count comes near.
  mutating func mistrust(_ now: Moment) {
    guard generation == 0, phase == .signedOut else { return }
    isMistrusted = true
    generation = UInt64(max(now.wall.milliseconds, 1))
    settledGeneration = generation
  }

  /// A login is shown to nobody before it is durable.
  ///
  /// The tokens that it replaces are not revoked: some providers end everything that the user has granted to the client
  /// then, the new session with the old.
  mutating func acceptLogin(_ session: ProviderSession, _ method: String, _ now: Moment) -> [Action] {
    generation += 1
    let living = LivingSession(
      tokens: session.tokens, user: session.user, authTime: now.wall, issuedAt: now.wall, lastValidatedAt: now.wall)
    pendingLogin = (living, generation)
    let event = EventPayload.login(LoginEvent(userID: session.user?.id, method: method))
    return [.save(record(.living(living)), announcing: [event])]
  }

  /// The record that says so, under the present generation.
  func record(_ contents: SessionRecord.Contents) -> SessionRecord {
    SessionRecord(profile: profile, binding: binding, generation: generation, contents: contents)
  }

  /// Takes over what was saved, or what the provider has already rotated although it could not be saved.
  mutating func adopt(_ generation: UInt64, isDurable: Bool, _ now: Moment) -> [Action] {
    if isDurable { settledGeneration = max(settledGeneration, generation) }
    if let pending = pendingLogin, pending.generation == generation {
      pendingLogin = nil
      if isDurable {
        heldAnswer = nil
        isInUse = true
        return begin(pending.session, now)
      }
      return goOnWithoutLogin(generation, now)
    }
    if case .saving(let session, generation) = activity {
      isStoreDegraded = !isDurable
      return begin(session, now)
    }
    guard isStoreDegraded, generation == self.generation else { return [] }
    if isDurable {
      isStoreDegraded = false
      return serveWaiting(now)
    }
    return refuseWhileDegraded(now)
  }

  /// A login that could not be saved was refused: the session of before goes on, with what it missed meanwhile.
  private mutating func goOnWithoutLogin(_ generation: UInt64, _ now: Moment) -> [Action] {
    if generation == self.generation { settledGeneration = generation }
    var actions: [Action] = []
    if isStoreDegraded, let living {
      // The record that waits to be saved is older than the one that was refused, which may rest there all the same.
      self.generation += 1
      actions = [.save(record(.living(living)), announcing: [refreshed(living)])]
    }
    if let answer = heldAnswer {
      heldAnswer = nil
      actions += handle(answer, at: now)
    }
    return actions + serveWaiting(now)
  }

  private mutating func begin(_ session: LivingSession, _ now: Moment) -> [Action] {
    phase = .living(session)
    activity = .resting
    failuresInARow = 0
    isOutcomeUnknown = false
    isMistrusted = false
    let waiting = demands + demandsForLogin
    demands = []
    demandsForLogin = []
    return waiting.map { .answerToken($0.waiter, isOffline: false) }
  }

  /// Local state is gone at once, whatever the disk and the provider say.
  mutating func logOut(_ reason: LogoutEvent.Reason, _ now: Moment) -> [Action] {
    let hadSession = pendingLogin != nil || phase != .signedOut || isMistrusted
    let waiting = demands
    leaveLife(.signedOut)
    var actions = waiting.map { Action.answerError($0.waiter, BrokerError(.loginRequired, profile: profile)) }
    guard hadSession else { return actions }
    generation += 1
    actions.append(
      .save(record(.signedOut(at: now.wall)), announcing: [.logout(LogoutEvent(reason: reason))]))
    return actions
  }

  /// The session has ended by itself.
  mutating func end(
    _ reason: SessionExpiredEvent.Reason, alert: SecurityAlertEvent.Kind?, _ now: Moment
  ) -> [Action] {
    let waiting = demands
    leaveLife(.ended(reason))
    generation += 1
    var events: [EventPayload] = alert.map { [.securityAlert(SecurityAlertEvent(kind: $0))] } ?? []
    events.append(.sessionExpired(SessionExpiredEvent(reason: reason)))
    var actions = [Action.save(record(.ended(reason, at: now.wall)), announcing: events)]
    actions += waiting.map { demand in
      guard demand.waitsForLogin else { return .answerError(demand.waiter, loginError) }
      demandsForLogin.append(demand)
      return nil
    }.compactMap(\.self)
    return actions
  }

  private mutating func leaveLife(_ next: Phase) {
    phase = next
    activity = .resting
    pendingLogin = nil
    heldAnswer = nil
    demands = []
    failuresInARow = 0
    isStoreDegraded = false
    isOutcomeUnknown = false
    isMistrusted = false
  }

  /// Why there is no token where nobody is logged in.
  var loginError: BrokerError {
    if isMistrusted {
      var error = BrokerError(
        .vaultTampered, "What rests of this profile's session is not what the broker wrote; log in again.",
        profile: profile)
      error.nextAction = .login
      return error
    }
    guard case .ended(let reason) = phase else { return BrokerError(.loginRequired, profile: profile) }
    return BrokerError(.sessionExpired, "The session has ended (\(reason.rawValue)).", profile: profile)
  }
}

extension SessionMachine {
  /// Whether tokens may come, or have come, that do not rest in the store yet.
  var isUnsettled: Bool {
    switch activity {
    case .preparing, .refreshing, .saving: true
    case .resting, .backingOff: isStoreDegraded
    }
  }

  /// The newest tokens of the session, shown to clients or not; nil where there is none.
  var newestTokens: TokenSet? {
    guard let living else { return nil }
    guard case .saving(let session, _) = activity else { return living.tokens }
    return session.tokens
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
