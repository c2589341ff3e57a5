import BrokerProtocol

/// How a broker takes up what rests in its store.
extension Broker {
  /// Lets a store promise that the block of sequences after one is never given again; the last of them, or nil where it
  /// cannot.
  static func reserveSequences(_ store: any SessionStore, after last: UInt64) async -> UInt64? {
    let through = last + SequenceReservation.block
    do throws(StoreFailure) {
      try await store.reserveSequences(through: through)
      return through
    } catch {
      return nil
    }
  }

  /// Begins to give sequences, unless they are given already; `reserved` is what the store has promised.
  func openEvents(_ contents: StoreContents, reserved: UInt64?) {
    guard !commits.isOpen else { return }
    if reserved == nil { notify(.trouble(.sequencesNotReserved)) }
    reservation.open(through: reserved ?? contents.lastSequence)
    hub.open(after: contents.lastSequence, completeness: contents.eventCompleteness)
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
