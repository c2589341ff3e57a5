import BrokerProtocol

/// Keeps sessions in step with other brokers that have their records: see ``RecordStore``.
extension Broker {
  /// The longest that a refresh may take, from its intent to the end of the provider's answer: the lease of the intent must
  /// outlast it.
  static let longestFlight = Duration.seconds(25)
  /// The pause before an intent is opened again that was refused although nothing newer is there.
  private static let pauseOfReading = Duration.seconds(1)

  /// The shared stores of the configured profiles, each of them once.
  var sharedStores: [any RecordStore] {
    var known: Set<ObjectIdentifier> = []
    return slots.compactMap(\.records).filter { known.insert(ObjectIdentifier($0)).inserted }
  }

  /// The store of the session that a step is about, where it is shared.
  func sharedRecords(of step: StoreStep) -> (any RecordStore)? {
    step.recordedProfile.flatMap { holder(of: $0)?.records }
  }

  /// Makes a change durable in a shared store, behind the earlier ones of its profile, then continues the work that waits
  /// for it.
  ///
  /// Its events are told once it is: see ``note(_:)``.
  func commit(_ change: StoreChange, to store: any RecordStore, then settlement: Settlement?) {
    guard let slot = change.profile.flatMap({ holder(of: $0) }) else { return }
    let entry = SharedCommits.Entry(store: store, steps: change.steps, settlement: settlement)
    if sharedCommits.add(entry, of: slot.id) { commitNext(of: slot.id) }
  }

  private func commitNext(of slot: SlotID) {
    guard let entry = sharedCommits.first(of: slot) else { return finishLocking() }
    let steps = entry.steps.map { step in
      guard case .record(let record) = step, let machine = holder(slot)?.machine else { return step }
      return .record(machine.following(record))
    }
    askStore { _ throws(StoreFailure) in
      try await entry.store.commit(steps)
    } then: { broker, result in
      if case .failure(.tampered(let profile)) = result { broker.raiseTampering(of: profile) }
      // What follows from it comes behind the changes that wait already: the lane is still this one's.
      if let settlement = entry.settlement { broker.settle(settlement, result.failure) }
      broker.sharedCommits.finish(slot)
      broker.commitNext(of: slot)
    }
  }

  /// Forgets the keys of shared stores: the vault is locked.
  func dropSharedKeys() { for store in sharedStores { store.forgetSharedKeys() } }

  /// Goes on with the requests that have waited for the record of a profile; `error` says why it is not known.
  func serveAwaitingRecord(_ slot: ProfileSlot, _ error: BrokerError? = nil) {
    let waiting = slot.awaitingRecord
    slot.awaitingRecord = []
    for caller in waiting {
      if let error { refuse(caller, error) } else { resume(caller) }
    }
  }

  /// Whether other brokers have a record as well.
  func isShared(_ record: SessionRecord) -> Bool { holder(of: record.profile)?.records != nil }

  /// Keeps in the broker's own store what goes with a record that is durable elsewhere, and tells of it.
  func note(_ save: RecordSave) {
    let profile = save.record.profile
    if !save.events.isEmpty { change(StoreChange(.note, telling: save.events, of: profile)) }
    closeLogins()
    for revocation in logouts.queue.unkept(of: profile) { keep(revocation) }
  }

  /// Whether the lease of an intent, which was decided on at an uptime, outlasts the refresh that is to begin now; its
  /// first byte must leave in time as well.
  func leaseOutlasts(_ slot: ProfileSlot, _ since: Duration) -> Bool {
    slot.latestSending = slot.records?.lease.map { since + $0 - Self.longestFlight }
    return slot.latestSending.map { now.uptime <= $0 } ?? true
  }

  /// Reads what another broker has written in the meantime, instead of beginning a flight.
  func readAgain(for flight: UInt64, on slot: ProfileSlot) {
    guard let store = slot.records else { return handle(.intentFailed(flight: flight), on: slot) }
    read(store, [slot]) { broker, asked, contents in
      guard let slot = broker.holder(asked[0].slot) else { return }
      guard let contents else { return broker.handle(.intentFailed(flight: flight), on: slot) }
      broker.takeUp(contents, on: slot, asked[0])
      // A lease that has begun in between is not shown.
      broker.handle(.intentHeld(flight: flight, for: Self.pauseOfReading), on: slot)
    }
  }

  /// Reads what another broker has written in the place of a record: that holds, unless it is the very record, whose commit
  /// has reported an error.
  func readAgain(instead save: RecordSave) {
    let record = save.record
    guard let slot = holder(of: record.profile), let store = slot.records else {
      return finishSave(of: record, .superseded)
    }
    slot.takenUp = nil
    read(store, [slot]) { broker, asked, contents in
      guard let slot = broker.holder(asked[0].slot) else { return broker.finishSave(of: record, .superseded) }
      guard let contents else { return broker.settle(save, .failed(context: "reading a shared store")) }
      let found = contents.records[record.profile]
      if let found, found.generation == record.generation, found.contents == record.contents {
        return broker.settle(save, nil)
      }
      if slot.machine.generation == record.generation { broker.takeUp(contents, on: slot, asked[0], isRefused: true) }
      let lost = contents.rolledBack[record.profile]
      let hasTokens = slot.machine.holdsAlone(record)
      if hasTokens, lost == nil { return broker.settle(save, .failed(context: "a record that is gone came before it")) }
      let hasEnded = slot.machine.ending?.generation == record.generation
      broker.handle(.saveRefused(generation: record.generation, lost: lost), on: slot)
      if broker.journal.retriedGeneration(of: record.profile) == record.generation {
        broker.dropRetry(of: record.profile)
      }
      guard slot.machine.ending == nil else {
        // An end that is written once more is waited for.
        return broker.journal.postpone(record, to: slot.machine.generation)
      }
      // What may not be written holds here alone, and is told all the same.
      if hasEnded || hasTokens { broker.note(save) }
      broker.finishSave(of: record, slot.machine.living == nil ? nil : .superseded)
    }
  }

  /// Takes up the record of a profile, unless one of this broker's own is on its way, which may be what was read;
  /// `isRefused` says that it was refused.
  func takeUp(_ contents: SharedReading?, on slot: ProfileSlot, _ asked: AskedRecord, isRefused: Bool = false) {
    if slot.machine.isStoreAway != (contents == nil) { handle(.storeReached(contents != nil), on: slot) }
    guard let contents else { return serveAwaitingRecord(slot, Self.unreached(slot.name)) }
    let lost = contents.rolledBack[slot.name]
    noteRollback(lost != nil, of: slot)
    let record = contents.records[slot.name]
    let intent = contents.intents[slot.name]
    guard slot.isRead else {
      // Nothing is said of one that was known before the vault was locked in between.
      guard asked.version == nil || record != nil else { return }
      begin(record, intent, contents, on: slot)
      if let lost { handle(.storeWentBack(lost), on: slot) }
      return
    }
    if contents.tampered.contains(slot.name) {
      publishRarely(.securityAlert(SecurityAlertEvent(kind: .storeTampering)), of: slot)
    }
    if let lost { handle(.storeWentBack(lost), on: slot) }
    guard isRefused || slot.machine.settledGeneration == slot.machine.generation, let record else { return }
    let isNews = record.generation > slot.machine.restingGeneration
    if isNews, slot.machine.isOfOtherSession(record) {
      enrolments.end(of: slot.name)
      slot.account.describedAt = nil
      slot.sessions += 1
      slot.provingClient = nil
    }
    slot.takenUp = contents.versions[slot.name]
    handle(.replacedElsewhere(record, intent: intent), on: slot)
    // The next save of what was replaced is not wanted any more.
    if isNews { dropRetry(of: slot.name) }
    handle(.sessionChanged(slot.name))
  }

  /// Takes up the record that was there before this broker.
  private func begin(
    _ record: SessionRecord?, _ intent: RefreshIntent?, _ contents: SharedReading, on slot: ProfileSlot
  ) {
    slot.isRead = true
    slot.takenUp = contents.versions[slot.name]
    if contents.tampered.contains(slot.name) {
      handle(.mistrusted, on: slot)
      raiseTampering(of: slot.name)
    } else if let record {
      restore(record, intent, to: slot)
    }
    tellEnd(of: slot)
    serveAwaitingRecord(slot)
  }

  /// Tells those who were shown a session that was not known yet where there is none.
  private func tellEnd(of slot: ProfileSlot) {
    guard slot.isShownUnread else { return }
    slot.isShownUnread = false
    switch slot.machine.phase {
    case .living, .mistrusted: break
    case .signedOut: publish(.logout(LogoutEvent(reason: .user)), profile: slot.name)
    case .ended(let reason):
      let event = SessionExpiredEvent(reason: reason, message: reason.explanation)
      publish(.sessionExpired(event), profile: slot.name)
    case .reauthenticationRequired:
      publish(.sessionExpired(SessionExpiredEvent(reason: .refreshRejected)), profile: slot.name)
    }
  }

  /// Raises the alarm, once, where a shared store has gone back to an earlier state: see ``StoreContents/rolledBack``.
  private func noteRollback(_ isRolledBack: Bool, of slot: ProfileSlot) {
    if isRolledBack, !slot.isRolledBack {
      publish(.securityAlert(SecurityAlertEvent(kind: .storeRolledBack)), profile: slot.name)
      notify(.problem(.storeRolledBack(slot.name)))
    }
    slot.isRolledBack = isRolledBack
  }

  /// The error while a shared store has not been read.
  private static func unreached(_ profile: ProfileName) -> BrokerError {
    let message =
      "The session of this profile was not read yet from the database of the fleet; the log and authbroker fleet status say why."
    return BrokerError(.storeFailed, message, profile: profile)
  }
}

extension BrokerError {
  /// The error where a record, or an intent, could not be written.
  init(unwritten profile: ProfileName, isShared: Bool) {
    self.init(.storeFailed, profile: profile)
    guard isShared else { return }
    message = "The database of the fleet could not be written; the log and authbroker fleet status say why."
  }
}
