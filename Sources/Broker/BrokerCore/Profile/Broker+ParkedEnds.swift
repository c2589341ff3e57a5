import BrokerProtocol

/// Ending parked sessions for good.
extension Broker {
  /// How long the end of one rests that the store has refused.
  private static let pauseAfterRefusal = Duration.seconds(60)

  /// Checks the parked sessions against the clock, and sets the next wake-up, after `pause` at the earliest.
  func scheduleParked(after pause: Duration = .zero) {
    parked.timer?.cancel()
    let now = self.now
    if pause > .zero { parked.rest(until: now.uptime + pause) }
    parked.timer = parked.look(at: now).map { uptime in
      schedule(at: uptime) { $0.endOverdue() }
    }
  }

  private func endOverdue() {
    guard vault.isOpen else { return }
    for account in parked.takeUnended() { endParked(account) }
    scheduleParked(after: Self.pauseAfterRefusal)
    let now = self.now
    guard parked.all.contains(where: { parked.isOver($0.id, at: now) }) else { return }
    endParked { broker, session in broker.parked.isOver(session.id, at: broker.now) }
  }

  /// Ends the parked sessions that meet a condition: their tokens are read, removed, and revoked where the provider of
  /// their binding is configured.
  private func endParked(where condition: @escaping @Sendable (isolated Broker, ParkedSession) -> Bool) {
    askStore { store throws(StoreFailure) in
      try await store.load()
    } then: { broker, result in
      guard case .success(let contents) = result else { return }
      for session in broker.parked.newest(contents) where condition(broker, session) {
        _ = broker.end(session, contents.records, everywhere: false)
      }
    }
  }

  /// Ends the parked sessions of an account for good, which its provider has ended; an end that could not be made
  /// durable is tried again.
  ///
  /// `settlement` follows once they are no longer in the store, and earlier changes of `slot` are durable too. Where
  /// the caller behind it is not shown all profiles, it does not wait for any of them: they may be of hidden ones.
  func endParked(_ account: ParkedAccount, then settlement: Settlement? = nil, of slot: SlotID? = nil) {
    if let settlement, case .account(let caller, _, _, _) = settlement, !caller.principal.shown.isAll {
      proceed(settlement, nil, of: slot)
      return endParked(account)
    }
    let id = parked.begin(ParkedAccountEnd(account: account, settlement: settlement, slot: slot))
    // What is kept is not known while the vault is locked: it is tried again once it is open.
    guard vault.phase != .locked else { return note(parked: id) { ($0.isReading, $0.failure) = (false, .locked) } }
    guard parked.hasAny(at: account.binding) else { return note(parked: id) { $0.isReading = false } }
    askStore { store throws(StoreFailure) in
      try await store.load()
    } then: { broker, result in
      let failure = result.failure ?? (broker.vault.isOpen ? nil : .locked)
      if case .success(let contents) = result {
        for session in broker.parked.newest(contents) where account.has(session, contents.records) {
          _ = broker.end(session, contents.records, everywhere: false, for: .account(id))
        }
      }
      broker.note(parked: id) { ($0.isReading, $0.failure) = (false, $0.failure ?? failure) }
    }
  }

  /// Updates the end of an account's parked sessions, and continues once nothing is outstanding.
  private func note(parked id: UInt64, _ change: (inout ParkedAccountEnd) -> Void) {
    guard let end = parked.update(id, change) else { return }
    if end.failure != nil { scheduleParked(after: Self.pauseAfterRefusal) }
    if let settlement = end.settlement { proceed(settlement, end.failure, of: end.slot) }
  }

  private func proceed(_ settlement: Settlement, _ failure: StoreFailure?, of slot: SlotID?) {
    guard failure == nil, let slot = slot.flatMap({ self.slot($0) }) else { return settle(settlement, failure) }
    whenSettled(slot, settlement)
  }

  /// Ends one for good; `records` has the records of profiles that are no longer configured.
  ///
  /// `waiter` waits until this is durable; nil for none.
  func end(
    _ session: ParkedSession, _ records: [SessionRecord], everywhere: Bool, for waiter: ParkedEnd.Waiter? = nil
  ) -> LogoutOutcome.ServerRevoked {
    guard vault.isOpen, parked.contains(session.id) else { return .no }
    let provider = parked.remove(session.id)
    var end = ParkedEnd(id: session.id, since: session.since, provider: provider, waiter: waiter)
    var steps = [StoreStep.unpark(session.id)]
    var (tokens, user) = (session.session?.tokens, session.session?.user?.id)
    let own = records.first { $0.profile == session.id.profile && $0.binding == session.id.binding }
    if let own, session.session == nil, slot(named: own.profile) == nil, case .living(let living) = own.contents {
      (tokens, user) = (living.tokens, living.user?.id)
      let (next, overflow) = own.generation.addingReportingOverflow(1)
      let record = SessionRecord(
        profile: own.profile, binding: own.binding, generation: overflow ? own.generation : next,
        contents: .signedOut(at: now.wall))
      steps.append(.record(record))
    }
    let slot = slots.first { $0.provider.binding == session.id.binding }
    var actions: [RevocationQueue.Action] = []
    if let tokens, let slot {
      actions = planRevocation(of: tokens, user: user, everywhere: everywhere, on: slot, isBeingKept: true)
      let revocations = logouts.queue.unkept(of: slot.name)
      steps += revocations.map { .openRevocation($0) }
      end.revocations = revocations.map(\.id)
    }
    switch waiter {
    case .logout(let id): note(id) { $0.unsavedParked.insert(session.id) }
    case .account(let id): note(parked: id) { $0.unsaved.insert(session.id) }
    case nil: break
    }
    change(StoreChange(.note, steps, of: session.id.profile), then: .parkedEnd(end))
    scheduleParked()
    run(actions)
    guard let tokens else { return .no }
    if slot != nil { return .pending }
    guard let provider else { return .unsupported }
    revokeUnused(tokens, at: provider, for: session.id.profile)
    return .pending
  }

  /// Notes that the end of one is durable; where it has failed, the session is still kept.
  func settle(_ end: ParkedEnd, _ failure: StoreFailure?) {
    if failure == nil {
      for id in end.revocations { handle(.kept(id)) }
      if !end.isByHand { notify(.problem(.parkedEnded(end.id.profile))) }
    } else if vault.isOpen, !parked.contains(end.id) {
      parked.putBack(end)
      scheduleParked(after: Self.pauseAfterRefusal)
    }
    switch end.waiter {
    case .logout(let id):
      note(id) { logout in
        logout.unsavedParked.remove(end.id)
        if failure != nil { logout.hasLeftSessions = true }
      }
    case .account(let id):
      note(parked: id) { account in
        account.unsaved.remove(end.id)
        account.failure = account.failure ?? failure
      }
    case nil: break
    }
  }
}
