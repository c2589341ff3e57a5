import BrokerProtocol

/// Revocation of tokens at providers, retried while they are unreachable.
extension Broker {
  /// Revokes tokens that are not used any more: at once where the provider answers, else later, also after a restart.
  ///
  /// `user` is their user, where known; `isBeingKept` as for
  /// ``planRevocation(of:user:everywhere:on:isBeingKept:for:)``.
  ///
  /// A secret of the configuration is its owner's to revoke.
  func revokeLater(_ tokens: TokenSet, of slot: ProfileSlot, user: String? = nil, isBeingKept: Bool = false) {
    guard !slot.machine.isConfigured else { return }
    run(planRevocation(of: tokens, user: user, everywhere: false, on: slot, isBeingKept: isBeingKept))
  }

  /// Revokes the tokens of a session that a login has replaced.
  ///
  /// A provider that revokes whole grants would end the new session with them where both are the same user's, or where
  /// it is not known that they are not: then they are left to expire.
  func revokeReplaced(_ tokens: TokenSet, _ user: String?, on slot: ProfileSlot) {
    if revocationHabit(of: slot) == .grant {
      guard let user, !slot.machine.isSigningIn, let present = slot.machine.living?.user?.id, user != present
      else { return }
    }
    revokeLater(tokens, of: slot, user: user)
  }

  /// Revokes a session that is not used, at the provider that issued it.
  ///
  /// Where its profile has gone from the configuration, or the vault is locked, the revocation cannot be kept: then it
  /// is sent at once, once.
  func revokeUnused(_ session: ProviderSession, from issuer: IssuedSession.Issuer) {
    guard vault.phase != .locked, let slot = slot(issuer.slot) else {
      return revokeUnused(session.tokens, at: issuer.provider, for: issuer.slot.profile)
    }
    revokeLater(session.tokens, of: slot, user: session.user?.id)
  }

  /// Revokes tokens that no session uses, as far as the provider answers.
  func revokeUnused(_ tokens: TokenSet, at provider: any AuthProvider, for name: ProfileName) {
    inBackground {
      try? await ProviderCall.run(for: name) { () async throws(ProviderFailure) in
        try await provider.require(\.revocation).revoke(tokens, everywhere: false)
      }
      return { _ in }
    }
  }

  /// Queues the revocation of tokens; returns the actions to carry out now.
  ///
  /// `isBeingKept` says that the next record of the profile is about to be saved, which keeps the revocation as well.
  /// `part` is the part of a logout that waits for its first try; nil for none.
  func planRevocation(
    of tokens: TokenSet, user: String?, everywhere: Bool, on slot: ProfileSlot, isBeingKept: Bool,
    for part: Logouts.Part? = nil
  ) -> [RevocationQueue.Action] {
    let now = self.now
    let revocation = PendingRevocation(
      id: logouts.newRevocationID(of: slot.name, for: part), binding: slot.provider.binding, tokens: tokens,
      userID: user,
      everywhere: everywhere, startedAt: now.wall)
    return logouts.handle(.wanted(revocation, isBeingKept: isBeingKept), at: now)
  }

  /// Passes an event to the queue, and carries out its actions.
  func handle(_ event: RevocationQueue.Event) {
    run(logouts.handle(event, at: now))
    for login in logouts.takeReleased() { login(self) }
  }

  /// Begins a login once no revocation is under way that may end what it brings, or after 2 s: a provider that ends all
  /// of a user's grants, and acts late, would end the new session with the old one.
  func onceRevoked(_ slot: ProfileSlot, _ login: @escaping Logouts.HeldLogin) {
    guard let revocation = logouts.queue.underWay(of: slot.name),
      revocation.everywhere || revocationHabit(of: slot) == .grant
    else { return login(self) }
    let id = logouts.hold(login, of: slot.name)
    _ = schedule(at: now.uptime + Self.revocationPatience) { broker in broker.logouts.takeHeld(id)?(broker) }
  }

  /// Tells the queue which profiles there are.
  func configureRevocations() { handle(RevocationQueue.Event.configured(Self.bindings(of: slots))) }

  /// The provider binding of each profile.
  static func bindings(of slots: [ProfileSlot]) -> [ProfileName: ProviderBinding] {
    var bindings = [ProfileName: ProviderBinding](minimumCapacity: slots.count)
    bindings.merge(slots.lazy.map { ($0.name, $0.provider.binding) }) { first, _ in first }
    return bindings
  }

  /// Carries out the queue's actions, and sets its next wake-up.
  func run(_ actions: [RevocationQueue.Action]) {
    for action in actions {
      switch action {
      case .send(let revocation): send(revocation)
      case .keep(let revocation): keep(revocation)
      case .forget(let id): change(StoreChange(.note, [.closeRevocation(id)], of: id.profile))
      case .answer(let id, let outcome):
        if let part = logouts.takePart(waitingFor: id) {
          note(part.logout) { $0.note(outcome, of: part.profile) }
        }
      case .giveUp(let id):
        counts.revocationsGivenUp += 1
        notify(.problem(.revocationGivenUp(id.profile)))
      }
    }
    scheduleRevocations()
  }

  private func scheduleRevocations() {
    logouts.setWake { uptime in
      schedule(at: uptime) { $0.handle(RevocationQueue.Event.woken) }
    }
  }

  /// Keeps in the store what is still to be revoked.
  func keep(_ revocation: PendingRevocation) {
    change(
      StoreChange(.note, [.openRevocation(revocation)], of: revocation.id.profile), then: .revocation(revocation.id))
  }

  private func send(_ revocation: PendingRevocation) {
    let id = revocation.id
    guard let slot = slot(named: id.profile), slot.provider.binding == revocation.binding else {
      return handle(.failed(id, retryAfter: nil, jitter: 1))
    }
    guard revocationHabit(of: slot) != RevocationHabit.none else { return handle(.ended(id, .unsupported)) }
    guard !mayEndSession(revocation, on: slot) else { return handle(.held(id)) }
    // What ends all sessions of the user would end one that was begun since, too.
    let everywhere = revocation.everywhere && !slot.machine.hasSession
    let endsOthers = everywhere || revocationHabit(of: slot) == .grant
    ask(slot, .repeatable) { provider throws(ProviderFailure) in
      try await provider.require(\.revocation).revoke(revocation.tokens, everywhere: everywhere)
    } then: { broker, slot, result in
      switch result {
      case .success:
        broker.counts.revocations += 1
        if endsOthers { broker.examineOthers(after: revocation) }
        broker.handle(.ended(id, .yes))
        if let slot { broker.learnHabit(after: revocation, on: slot) }
      case .failure(let failure): broker.revocationFailed(id, failure)
      }
    }
  }

  /// Examines the sessions of other profiles that may have ended with a revocation.
  private func examineOthers(after revocation: PendingRevocation) {
    let others = sessions(of: revocation.userID, at: revocation.binding, besides: revocation.id.profile)
    if !others.isEmpty { check(others, .user, in: logouts.logout(waitingFor: revocation.id)) }
  }

  /// Whether the end of these tokens could be the end of the present session, or of one that is just being begun.
  ///
  /// It cannot where the session is another user's.
  private func mayEndSession(_ revocation: PendingRevocation, on slot: ProfileSlot) -> Bool {
    guard revocationHabit(of: slot) == .grant else { return false }
    if logins.mayBringSession(to: slot) { return true }
    guard slot.machine.hasSession else { return false }
    guard !slot.machine.isSigningIn, let user = revocation.userID,
      let present = slot.user?.id
    else { return true }
    return user == present
  }

  private func revocationFailed(_ id: PendingRevocation.ID, _ failure: ProviderFailure) {
    switch failure {
    case .unsupported: handle(.ended(id, .unsupported))
    case .refused, .misconfigured, .rejected, .rotated, .sessionEnded, .reauthenticationRequired, .challenged,
      .tokenRefused:
      handle(.ended(id, .no))
    case .transient(_, let retryAfter, _), .outcomeUnknown(_, let retryAfter):
      handle(.failed(id, retryAfter: retryAfter, jitter: entropy.fraction()))
    case .credentialMissing, .subjectMissing:
      handle(.failed(id, retryAfter: nil, jitter: entropy.fraction()))
    }
  }
}
