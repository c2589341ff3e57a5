import BrokerProtocol

/// How a broker takes up what rests in its store.
extension Broker {
  /// Begins to give sequences, unless they are given already.
  func openEvents(_ contents: StoreContents) async {
    guard !commits.isOpen else { return }
    reservedThrough = contents.lastSequence
    do throws(StoreFailure) {
      let through = contents.lastSequence + Self.sequenceBlock
      try await store.reserveSequences(through: through)
      reservedThrough = through
    } catch {
      report(.sequencesNotReserved)
    }
    guard !commits.isOpen else { return }
    hub.open(after: contents.lastSequence, completeAfter: contents.eventsCompleteAfter)
    run(commits.open(after: contents.lastSequence))
  }

  /// Takes up what the store held for these profiles; what concerns none of them rests there.
  func restore(_ contents: StoreContents, to slots: [ProfileSlot]) {
    if contents.isSuspect { raiseTampering(of: nil) }
    for slot in slots {
      let intent = contents.intents.first { $0.profile == slot.name }
      if contents.tampered.contains(slot.name) {
        handle(.mistrusted, on: slot)
        raiseTampering(of: slot.name)
      } else if let record = contents.records.first(where: { $0.profile == slot.name }) {
        handle(.restored(record, intent: intent), on: slot)
      } else if intent != nil {
        change(StoreChange(.note, [.closeIntent(slot.name)], of: slot.name))
      }
    }
    for record in contents.pendingLogins {
      guard let slot = slots.first(where: { $0.name == record.login.profile }) else { continue }
      resume(record, on: slot)
    }
    closeLogins()
  }
}
