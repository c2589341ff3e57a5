import BrokerProtocol

/// Applying a new configuration to a running broker.
extension Broker {
  /// Adopts the configured profiles; sessions with the same binding go on.
  ///
  /// A profile that is no longer configured is forgotten here, once a refresh that is under way is over and saved, and
  /// rests in the vault. One with another binding is signed out, and nothing of it is sent to the new address; its
  /// session is parked.
  ///
  /// While the vault is locked there is nothing to read: the stored session of a new profile comes with the unlocking.
  package func reconfigure(_ profiles: [ProfileSettings]) async throws(StoreFailure) {
    let contents = vault.isOpen ? try await store.load() : nil
    let old = slots
    // What the cache remembers of uses goes with it.
    for slot in old { noticeUse(of: slot, now) }
    let known = self.profiles.all
    let knownSlots = Set(known.map(ObjectIdentifier.init))
    let earlier = Dictionary(known.map { ($0.name, $0) }) { first, _ in first }
    self.profiles.configure(profiles) { Self.machine(for: $0, entropy, boot: clock.boot) }
    providerViews.assign(to: self.profiles.all)
    // The new configuration may have fixed what was wrong.
    for view in providerViews.all { view.rest.handle(.recovered, at: now.uptime) }
    resetAnswers()
    // A profile that stays has its state in memory, which may be newer than what was just read.
    let fresh = slots.filter {
      !knownSlots.contains(ObjectIdentifier($0)) && !takesOver($0, from: earlier[$0.name], contents)
    }
    let present = Set(slots.map(ObjectIdentifier.init))
    for slot in old where !present.contains(ObjectIdentifier(slot)) { retire(slot) }
    if let contents, vault.isOpen {
      restore(contents, to: fresh)
      readSharedRecords()
    }
    configureQueues()
    for (slot, settings) in zip(slots, profiles) {
      // While the vault is being locked nothing is begun; the next session takes the rules up.
      guard vault.isOpen else {
        slot.machine.rules = settings.rules
        continue
      }
      handle(.rulesChanged(settings.rules), on: slot)
    }
    publish(.configReloaded, profile: nil)
  }

  /// Notes that the configuration was read again and is the same: what it refers to may have changed, such as the file
  /// of a client secret, so that nothing waits any longer because of an earlier refusal.
  package func configurationWasRead() {
    guard vault.isOpen else { return }
    for view in providerViews.all { view.rest.handle(.recovered, at: now.uptime) }
    for slot in slots { handle(.rulesChanged(slot.machine.rules), on: slot) }
    configureRequestQueue()
  }

  /// Signs out a profile that has another binding now; false where nothing is known of it in memory.
  ///
  /// Read records may be older than those that wait to be saved, so the new machine counts on from the old one.
  private func takesOver(_ slot: ProfileSlot, from earlier: ProfileSlot?, _ contents: StoreContents?) -> Bool {
    guard vault.isOpen, let earlier, earlier.records == nil else { return false }
    park(earlier)
    forgetSession(of: earlier, .providerChanged)
    if let contents, bringBack(to: slot, from: contents, own: nil, after: earlier.machine.generation) { return true }
    slot.machine.follow(earlier.machine)
    return true
  }

  /// Forgets a profile on which no caller waits any more.
  private func retire(_ slot: ProfileSlot) {
    slot.timer?.cancel()
    profiles.retire(slot)
    forgetLogin(of: slot.name, .of(.unknownProfile))
    closeLogins()
    retireConsents(of: slot.id)
    // They find another stay of the profile, or none.
    serveAwaitingRecord(slot)
    for caller in callers.waiting(for: .token(slot.name)) {
      refuse(caller, BrokerError(.unknownProfile, profile: slot.name))
    }
  }
}
