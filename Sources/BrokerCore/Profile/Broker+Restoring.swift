import BrokerProtocol

/// How a broker takes up what rests in its store.
extension Broker {
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
