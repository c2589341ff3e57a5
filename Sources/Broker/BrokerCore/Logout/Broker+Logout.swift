package import BrokerProtocol

/// The logout methods.
extension Broker {
  /// How long a logout waits for the provider before it says `pending`.
  static let revocationPatience = Duration.seconds(2)

  /// Ends sessions: local state is gone at once; the answer follows when that is durable and the provider has answered,
  /// or 2 s have passed.
  ///
  /// A revocation that the provider has not answered is tried again: see ``RevocationQueue``. Stored sessions, which a
  /// change of the configuration has left, end with their profile's; with `all`, all of them do.
  package func logout(_ params: Logout.Params, _ caller: Caller<Logout.Result>) throws(BrokerError) {
    let view = view(of: caller.principal)
    let left = params.profile.flatMap {
      view.sees($0) && parked.hasAny(of: $0) && slot(named: $0)?.machine.isConfigured != false ? $0 : nil
    }
    let chosen =
      params.all
      ? view.slots.filter { !$0.machine.isConfigured } : left == nil ? [try view.slot(for: params.profile)] : []
    if let slot = chosen.first(where: \.machine.isConfigured) { throw Self.notLoggedIn(slot) }
    for slot in chosen {
      let again: Method<Logout.Result> = { broker, caller throws(BrokerError) in try broker.logout(params, caller) }
      guard isKnown(slot, caller, again: again) else { return }
    }
    let only = params.all ? nil : left ?? chosen.first?.name
    let reads = params.all || only.map { parked.hasAny(of: $0) } == true
    let id = logouts.newID()
    let timer = schedule(at: now.uptime + Self.revocationPatience) { broker in
      broker.note(id) { logout in
        for name in logout.order { logout.note(.pending, of: name) }
        logout.unexamined = []
      }
    }
    logouts.begin(id, LogoutGathering(chosen.map(\.name), isReading: reads, timer, caller))
    for slot in chosen { logout(slot, everywhere: params.everywhere, id) }
    if reads { logoutLeftProfiles(everywhere: params.everywhere, only: only, id) }
    note(id) { _ in }
  }

  /// The error for the logout of a secret of the configuration, which no login has brought.
  private static func notLoggedIn(_ slot: ProfileSlot) -> BrokerError {
    let sentence =
      "There is nothing to log out of: the token of this profile is the secret that its configuration names; revoke it where "
      + "it was issued, and remove the profile or the secret."
    var error = BrokerError(.unsupportedByProvider, sentence, profile: slot.name)
    error.nextAction = .fixConfig
    return error
  }

  /// Ends the session of one profile, as a part of a logout.
  func logout(_ slot: ProfileSlot, everywhere: Bool, _ id: UInt64) {
    let name = slot.name
    // Before the session is forgotten: its record and what is still to be revoked are one transaction.
    let user = slot.user?.id
    let actions = slot.machine.newestTokens.map { tokens in
      planRevocation(
        of: tokens, user: user, everywhere: everywhere, on: slot, isBeingKept: true,
        for: Logouts.Part(logout: id, profile: name))
    }
    forgetSession(of: slot, .user)
    whenSettled(slot, .logout(id, name))
    guard let actions else {
      let outcome: LogoutOutcome.ServerRevoked = logouts.queue.isPending(name) ? .pending : .no
      return note(id) { $0.note(outcome, of: name) }
    }
    run(actions)
  }

  /// Forgets everything of a profile's session here, and begins to make that durable.
  func forgetSession(of slot: ProfileSlot, _ reason: LogoutEvent.Reason) {
    if reason != .providerChanged { leaveRequests(of: slot) }
    forgetLogin(of: slot.name, .of(.flowNotFound))
    enrolments.end(of: slot.name)
    slot.account.describedAt = nil
    slot.logouts += 1
    slot.sessions += 1
    slot.provingClient = nil
    handle(.logoutWanted(reason), on: slot)
    closeLogins()
  }

  /// Updates a logout, and answers it once nothing is outstanding.
  func note(_ id: UInt64, _ change: (inout LogoutGathering) -> Void) {
    guard let (logout, answer) = logouts.update(id, change) else { return }
    logout.timer.cancel()
    self.answer(logout.caller, answer)
  }
}
