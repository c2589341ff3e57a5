package import BrokerProtocol

/// The public state of sessions.
extension Broker {
  /// Where a profile's session stands, and what a login needs.
  package func session(
    _ profile: ProfileName?, for principal: Principal
  ) throws(BrokerError) -> GetSession.Result {
    let slot = try view(of: principal).slot(for: profile)
    return GetSession.Result(session: describe(slot), login: slot.provider.loginForms)
  }

  /// The configured profiles that a principal is shown, and what a login to each needs.
  package func profileForms(for principal: Principal) -> [Initialize.Profile] {
    view(of: principal).slots.map { slot in
      Initialize.Profile(
        profile: slot.name, provider: slot.machine.binding.type, login: slot.provider.loginForms)
    }
  }

  /// Where every configured profile stands that a principal is shown.
  package func sessions(for principal: Principal) -> [Session] { view(of: principal).slots.map { describe($0) } }

  /// The public state of a profile's session.
  func describe(_ slot: ProfileSlot) -> Session {
    guard vault.isOpen else {
      return Session(profile: slot.name, provider: slot.machine.binding.type, state: .locked)
    }
    let now = self.now
    noticeUse(of: slot, now)
    var session = Session(
      profile: slot.name, provider: slot.machine.binding.type, state: state(of: slot.machine, at: now))
    switch slot.machine.phase {
    case .living(let life):
      describe(life.session, of: slot, in: &session, now)
      if slot.machine.isShownExpired {
        session.loginRequiredReason = SessionExpiredEvent.Reason.refreshRejected.rawValue
        session.loginRequiredMessage = slot.machine.shownEndMessage
      } else if slot.machine.isSpent(at: now) {
        session.loginRequiredReason = SessionExpiredEvent.Reason.noRefreshToken.rawValue
      }
    case .ended(let reason):
      session.loginRequiredReason = reason.rawValue
      session.loginRequiredMessage = reason.explanation
    case .reauthenticationRequired: session.loginRequiredReason = ErrorKind.reauthRequired.rawValue
    case .mistrusted: session.loginRequiredReason = ErrorKind.vaultTampered.rawValue
    case .signedOut: break
    }
    return session
  }

  private func describe(
    _ living: LivingSession, of slot: ProfileSlot, in session: inout Session, _ now: Moment
  ) {
    session.user = slot.user
    session.userID = session.user?.id
    session.scopes = living.tokens.scopes
    session.accessTokenExpiresAt = slot.machine.shown(living.tokens.accessTokenExpiresAt)
    session.refreshTokenPresent =
      living.tokens.refreshToken != nil && !slot.provider.capabilities.areClientsOwn(living.tokens)
    session.refreshTokenExpiresAt = slot.machine.shown(living.tokens.refreshTokenExpiresAt)
    session.authTime = living.authTime
    session.lastRefreshAt = living.lastRefreshAt
    session.providerClockSkew = slot.view.clock.skew
    session.lastValidatedAt = living.lastValidatedAt
    session.idleExpiresAt = slot.machine.idleEnd.map { now.wall + ($0 - now.uptime) }
    if slot.machine.isStoreDegraded { session.storeDegraded = true }
  }

  private func state(of machine: SessionMachine, at now: Moment) -> Session.State {
    switch machine.phase {
    case .living where machine.isShownExpired || machine.isSpent(at: now) && !machine.isSigningIn:
      logins.step(of: machine.profile, at: now.wall) == nil ? .expired : .challengePending
    case .living where machine.isOffline: .offline
    case .living:
      switch machine.activity {
      case .saving, .preparing, .refreshing: .refreshing
      case .resting, .backingOff, .barred: .authenticated
      }
    case _ where logins.step(of: machine.profile, at: now.wall) != nil: .challengePending
    case .signedOut: .signedOut
    case .mistrusted, .ended, .reauthenticationRequired: .expired
    }
  }

  /// Tells whose session it is, from memory where that is recent enough; a client's own has no user.
  package func currentUser(_ params: GetCurrentUser.Params, _ caller: Caller<User>) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    if let living = slot.machine.living, slot.provider.capabilities.areClientsOwn(living.tokens) {
      throw BrokerError(
        .unsupportedByProvider, "The session is the client's own (client credentials); it has no user.",
        profile: slot.name)
    }
    if slot.machine.living != nil, let user = slot.account.user(notOlderThan: params.maxAge, at: now.uptime) {
      noteUse(of: slot)
      return answer(caller, user)
    }
    try askWithToken(\.userInfo, .read, slot.name, caller) { provider, token throws(ProviderFailure) in
      try await provider.currentUser(accessToken: token)
    } then: { broker, slot, isPresent, user in
      broker.answer(caller, isPresent ? broker.note(user, on: slot) : .success(user))
    }
  }

  /// Keeps what the provider said of the session's user, and gives the answer to the waiting callers.
  ///
  /// Another user is not believed: a reply must not be mistaken for one about another user (OpenID Connect Core, section
  /// 5.3.2).
  func note(_ user: User, on slot: ProfileSlot) -> Result<User, BrokerError> {
    guard let living = slot.machine.living else { return .success(user) }
    guard living.user.map({ $0.id == user.id }) ?? true else {
      return .failure(
        BrokerError(.invalidResponse, "The provider named a different user than the session's.", profile: slot.name))
    }
    let known = slot.user
    slot.account.note(user, at: now.uptime)
    if let known, known != user { publish(.userUpdated(UserUpdatedEvent(userID: user.id)), profile: slot.name) }
    return .success(user)
  }
}
