import BrokerProtocol

/// Applying a new configuration to a running broker.
extension Broker {
  /// Takes up profiles as they are configured now; sessions that are still bound to the same place go on.
  ///
  /// A profile that is no longer configured is forgotten here, once a refresh that is under way is over and saved, and
  /// rests in the vault. One that is bound to another place is signed out, and nothing of it is sent to the new address; its
  /// session is kept for when the configuration is as before.
  ///
  /// While the vault is locked there is nothing to read: what rests of a new profile comes with the unlocking.
  ///
  /// - Throws: ``StoreFailure`` where the store cannot be read; nothing is changed then.
  package func reconfigure(_ profiles: [ProfileSettings]) async throws(StoreFailure) {
    let sharing = Sharing(profiles.map { ($0.name, $0.records) })
    let contents = vault.isOpen ? await Self.joined(try await store.load(), sharing) : nil
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
    if let contents, vault.isOpen { restore(contents, to: fresh) }
    configureRevocations()
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

  /// Takes in that the configuration was read again and says the same: what it refers to may have changed, such as the file
  /// of a client secret, so that nothing waits any longer because of what a provider has refused.
  package func configurationWasRead() {
    guard vault.isOpen else { return }
    for view in providerViews.all { view.rest.handle(.recovered, at: now.uptime) }
    for slot in slots { handle(.rulesChanged(slot.machine.rules), on: slot) }
  }

  /// Signs a profile out that is bound to another place now; false where nothing is known of it in memory.
  ///
  /// What was just read may be older than what waits to be saved, so the new machine counts on from the old one.
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
    for caller in callers.waiting(for: .token(slot.name)) {
      refuse(caller, BrokerError(.unknownProfile, profile: slot.name))
    }
  }
}
