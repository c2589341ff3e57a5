package import BrokerProtocol

/// The public state of sessions.
extension Broker {
  /// Describes a profile's session, and the inputs that a login needs.
  package func session(
    _ profile: ProfileName?, for principal: Principal
  ) throws(BrokerError) -> GetSession.Result {
    let slot = try view(of: principal).slot(for: profile)
    return GetSession.Result(session: describe(slot), login: slot.provider.loginForms)
  }

  /// The configured profiles that a principal may see, and the inputs of a login to each.
  package func profileForms(for principal: Principal) -> [Initialize.Profile] {
    view(of: principal).slots.map { slot in
      Initialize.Profile(
        profile: slot.name, provider: slot.machine.binding.type, login: slot.provider.loginForms)
    }
  }

  /// Describes the session of every configured profile that a principal may see.
  package func sessions(for principal: Principal) -> [Session] { view(of: principal).slots.map { describe($0) } }

  /// The addresses of the providers, by the configured profiles that a principal may see.
  package func addresses(for principal: Principal) -> [GetStatus.ProfileAddress] {
    view(of: principal).slots.compactMap { slot in
      slot.machine.binding.address.map { GetStatus.ProfileAddress(profile: slot.name, address: $0) }
    }
  }

  /// The public state of a profile's session.
  func describe(_ slot: ProfileSlot) -> Session {
    guard vault.isOpen else {
      return Session(profile: slot.name, provider: slot.machine.binding.type, state: .locked)
    }
    let now = self.now
    noticeUse(of: slot, now)
    if !slot.isRead { slot.isShownUnread = true }
    var session = Session(
      profile: slot.name, provider: slot.machine.binding.type,
      state: slot.isRead ? state(of: slot.machine, at: now) : .offline)
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
    session.issuer = living.tokens.accessToken.client?.issuer
    session.clientID = living.tokens.accessToken.client?.id
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
}
