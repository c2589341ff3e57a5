import BrokerProtocol

/// Logout of sessions whose profile has left the configuration.
extension Broker {
  /// Ends the stored sessions of profiles that are not configured, or are configured otherwise, as a part of a logout;
  /// `only` is the one profile of the logout, nil for all.
  ///
  /// Each is revoked by a configured profile with the same binding; without one, nothing can be sent to its provider.
  func logoutLeftProfiles(everywhere: Bool, only: ProfileName?, _ id: UInt64) {
    askStore { store throws(StoreFailure) in
      try await store.load()
    } then: { broker, result in
      if case .success(let contents) = result {
        broker.endLeftSessions(contents, everywhere: everywhere, only: only, id)
      }
      broker.note(id) { logout in
        logout.isReading = false
        if result.failure != nil { logout.hasLeftSessions = true }
      }
    }
  }

  /// `contents` was read a moment ago: a profile may have come back since, and one whose last refresh is being saved is
  /// newer in memory.
  private func endLeftSessions(_ contents: StoreContents, everywhere: Bool, only: ProfileName?, _ id: UInt64) {
    guard vault.isOpen, let order = logouts.profiles(of: id) else { return }
    let known = Set(order)
    defer { endParked(of: only, contents, everywhere: everywhere, id) }
    guard only.map({ known.contains($0) }) != true else { return }
    let isMeant = { (name: ProfileName) in only == nil || name == only }
    for slot in profiles.all
    where !known.contains(slot.name) && isMeant(slot.name) && slot.machine.newestTokens != nil
      && !slot.machine.isConfigured
    {
      let name = slot.name
      begin(name, in: id)
      guard self.slot(named: name) == nil else {
        logout(slot, everywhere: everywhere, id)
        continue
      }
      revoke(slot.machine.newestTokens, slot.machine.binding, everywhere: everywhere, of: name, id)
      forgetSession(of: slot, .user)
      whenSaved(slot, .leftSession(id, name))
    }
    let present = Set(profiles.all.map(\.name))
    for record in contents.records where !present.contains(record.profile) && isMeant(record.profile) {
      guard case .living(let session) = record.contents else { continue }
      end(record.profile, record.binding, after: record.generation, in: id)
      revoke(session.tokens, record.binding, everywhere: everywhere, user: session.user?.id, of: record.profile, id)
    }
    for name in contents.tampered where !present.contains(name) && isMeant(name) {
      // What cannot be trusted is overwritten under a generation that no honest count comes near, as a login would be.
      end(name, ProviderBinding(type: ""), after: UInt64(max(now.wall.milliseconds, 1)), in: id)
      note(id) { $0.note(.no, of: name) }
    }
    for record in contents.pendingLogins
    where !present.contains(record.login.profile) && isMeant(record.login.profile) {
      logins.noteUnclosed(record.login.profile)
    }
    closeLogins()
  }

  /// Ends the parked sessions of one profile or of all.
  private func endParked(of only: ProfileName?, _ contents: StoreContents, everywhere: Bool, _ id: UInt64) {
    for session in parked.newest(contents) where only == nil || session.id.profile == only {
      let outcome = end(session, [], everywhere: everywhere, for: .logout(id))
      let name = session.id.profile
      guard logouts.profiles(of: id)?.contains(name) == false else { continue }
      note(id) { logout in
        logout.order.append(name)
        logout.note(outcome, of: name)
      }
    }
  }

  private func begin(_ name: ProfileName, in id: UInt64) {
    note(id) { logout in
      logout.order.append(name)
      logout.unsaved.insert(name)
    }
  }

  /// Writes the end of a session over its record, with its event.
  private func end(_ name: ProfileName, _ binding: ProviderBinding, after generation: UInt64, in id: UInt64) {
    begin(name, in: id)
    let (next, overflow) = generation.addingReportingOverflow(1)
    let record = SessionRecord(
      profile: name, binding: binding, generation: overflow ? generation : next,
      contents: .signedOut(at: now.wall))
    let event = EventPayload.logout(LogoutEvent(reason: .user))
    let change = StoreChange(.record, [.record(record), .closeLogin(name)], telling: [event], of: name)
    self.change(change, then: .leftSession(id, name))
  }

  /// Has tokens revoked by a configured profile with the same binding.
  private func revoke(
    _ tokens: TokenSet?, _ binding: ProviderBinding, everywhere: Bool, user: String? = nil, of name: ProfileName,
    _ id: UInt64
  ) {
    guard let tokens, let slot = slots.first(where: { $0.provider.binding == binding }) else {
      return note(id) { $0.note(.unsupported, of: name) }
    }
    run(
      planRevocation(
        of: tokens, user: user, everywhere: everywhere, on: slot, isBeingKept: false,
        for: Logouts.Part(logout: id, profile: name)))
  }
}
