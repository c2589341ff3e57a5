import BrokerProtocol

/// How a running broker takes up another configuration.
extension Broker {
  /// Takes up profiles as they are configured now; sessions that are still bound to the same place go on.
  ///
  /// A profile that is no longer configured is forgotten here, and rests in the vault. One that is bound to another
  /// place is signed out, and nothing of it is sent to the new address.
  ///
  /// - Throws: ``StoreFailure`` where the store cannot be read; nothing is changed then.
  package func reconfigure(_ profiles: [ProfileSettings]) async throws(StoreFailure) {
    let contents = try await store.load()
    let old = slots
    slots = profiles.map { settings in
      guard let slot = old.first(where: { $0.name == settings.name }),
        slot.machine.binding == settings.provider.binding
      else {
        slotCount += 1
        return ProfileSlot(slotCount, settings, Self.machine(for: settings, entropy))
      }
      slot.provider = settings.provider
      slot.machine.policy = settings.policy
      slot.rendered = nil
      return slot
    }
    index = ProfileIndex(slots.map(\.name))
    answers.reset(index, count: slots.count, unnamed: Self.unnamed(slots))
    for slot in old where !slots.contains(where: { $0 === slot }) { retire(slot) }
    for slot in slots where slot.machine.generation == 0 {
      guard let record = contents.records.first(where: { $0.profile == slot.name }) else { continue }
      handle(.restored(record), on: slot)
    }
    publish(.configReloaded, profile: nil)
  }

  /// Lets go of a profile: nobody waits on it any more.
  private func retire(_ slot: ProfileSlot) {
    slot.timer?.cancel()
    pendingLogins.forget(profile: slot.name)
    for (waiter, entry) in waiters where entry.profile == slot.name {
      answer(waiter, .failure(BrokerError(.unknownProfile, profile: slot.name)))
    }
  }
}
