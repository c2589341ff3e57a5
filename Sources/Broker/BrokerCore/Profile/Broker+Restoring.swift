import BrokerProtocol

/// Restoring the broker's state from its store.
extension Broker {
  /// Restores the stored records of these profiles; all others stay in the store.
  ///
  /// Those of shared profiles rest elsewhere.
  func restore(_ contents: StoreContents, to slots: [ProfileSlot]) {
    if contents.isSuspect { raiseTampering(of: nil) }
    // The store has one row for each profile.
    let intents = Dictionary(contents.intents.map { ($0.profile, $0) }) { first, _ in first }
    var records = [Int?](repeating: nil, count: profiles.configured.count)
    for index in contents.records.indices {
      guard let position = profiles.index.find(contents.records[index].profile) else { continue }
      records[position] = index
    }
    let tampered = Set(contents.tampered)
    restoreParked(contents)
    for slot in slots where slot.records == nil {
      let intent = intents[slot.name] ?? (contents.mayBeOlder ? doubt(records[slot.position], contents) : nil)
      if tampered.contains(slot.name) {
        handle(.mistrusted, on: slot)
        raiseTampering(of: slot.name)
      } else if let own = records[slot.position].map({ contents.records[$0] }) {
        if own.binding != slot.provider.binding { park(own, mayBeSpent: intent != nil) }
        if bringBack(to: slot, from: contents, own: own, after: own.generation) { continue }
        restore(own, intent, to: slot)
      } else if intent != nil {
        change(StoreChange(.note, [.closeIntent(slot.name)], of: slot.name))
      }
    }
    let resumed = contents.pendingLogins.isEmpty ? [] : slots
    let names = Dictionary(resumed.map { ($0.name, $0) }) { first, _ in first }
    for record in contents.pendingLogins {
      guard let slot = names[record.login.profile] else { continue }
      resume(record, on: slot)
    }
    closeLogins()
  }

  /// Restores the stored record of a profile; the intent is one whose outcome is not known.
  func restore(_ record: SessionRecord, _ intent: RefreshIntent?, to slot: ProfileSlot) {
    handle(.restored(record, intent: intent), on: slot)
    if let verdict = clockSources.verdict { handle(.clockJudged(verdict), on: slot) }
    slot.stepUp = slot.machine.living?.stepUp
    slot.view.revocation = slot.machine.living?.revocation ?? slot.view.revocation
  }

  /// Opens an intent for a session whose record may be an older one, so that its refresh token may have been spent: it
  /// is not sent while there is an access token to be lost by it.
  private func doubt(_ position: Int?, _ contents: StoreContents) -> RefreshIntent? {
    guard let record = position.map({ contents.records[$0] }), case .living(let session) = record.contents,
      session.tokens.refreshToken != nil
    else { return nil }
    let intent = RefreshIntent(
      profile: record.profile, generation: record.generation, startedAt: Timestamp(milliseconds: 0))
    change(StoreChange(.note, [.openIntent(intent)], of: record.profile))
    return intent
  }
}
