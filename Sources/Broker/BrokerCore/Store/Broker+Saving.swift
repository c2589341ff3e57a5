package import BrokerProtocol

/// Saving of records, retried for as long as the store fails.
extension Broker {
  /// Makes a record durable, in one transaction with its events, and tells its machine.
  ///
  /// `isRetry` says that it was tried before, with an error: it may be durable already.
  func save(_ record: SessionRecord, announcing events: [EventPayload], isRetry: Bool = false) {
    if isShared(record) {
      let save = RecordSave(
        record: record, events: events, revocations: [], closesLogin: false,
        requests: queued.queue.leaving(of: record.profile))
      return change(StoreChange(.record, [.record(record)], of: record.profile), then: .record(save))
    }
    guard record.isKept else {
      let save = RecordSave(record: record, events: [], revocations: [], closesLogin: false)
      return change(StoreChange(.note, telling: events, of: record.profile), then: .record(save))
    }
    var steps = [StoreStep.record(record)]
    if let intent = holder(of: record.profile)?.machine.intent(beside: record) { steps.append(.openIntent(intent)) }
    let closesLogin = logins.takeUnclosed(record.profile)
    if closesLogin { steps.append(.closeLogin(record.profile)) }
    let revocations = logouts.queue.unkept(of: record.profile)
    steps += revocations.map { .openRevocation($0) }
    let requests = queued.queue.leaving(of: record.profile)
    steps += requests.map { .forgetRequest($0) }
    var change = StoreChange(.record, steps, telling: events, of: record.profile)
    change.isRetry = isRetry
    let save = RecordSave(
      record: record, events: events, revocations: revocations.map(\.id), closesLogin: closesLogin,
      requests: requests)
    self.change(change, then: .record(save))
  }

  /// Takes in how saving a record has ended.
  func settle(_ save: RecordSave, _ failure: StoreFailure?) {
    guard let failure, save.record.isKept else {
      if isShared(save.record) {
        note(save)
        // They rest in the broker's own store.
        if !save.requests.isEmpty { run([.forget(save.requests)]) }
      }
      for id in save.revocations { handle(.kept(id)) }
      if !save.requests.isEmpty { handle(.removed(save.requests)) }
      return saved(save.record)
    }
    if failure == .superseded, isShared(save.record) { return readAgain(instead: save) }
    saveFailed(save.record, announcing: save.events, failure)
    if save.closesLogin { logins.noteUnclosed(save.record.profile) }
  }

  /// The profiles whose newest state is in memory alone.
  package var unsavedProfiles: [ProfileName] { journal.unsaved }

  private func saved(_ record: SessionRecord) {
    if record.isKept { counts.saves += 1 }
    if journal.noteSaved(record) { notify(.problem(.saved(record.profile))) }
    if let slot = holder(of: record.profile), slot.machine.isLogin(record.generation) {
      slot.sessions += 1
      slot.stepUp = nil
      enrolments.end(of: slot.name)
      slot.account.describedAt = nil
    }
    handle(.saved(generation: record.generation), onProfile: record.profile)
    if case .living = record.contents { handle(.sessionChanged(record.profile)) }
    finishSave(of: record, nil)
  }

  private func saveFailed(_ record: SessionRecord, announcing events: [EventPayload], _ failure: StoreFailure) {
    let name = record.profile
    let failures = journal.failures(of: record)
    if failure == .superseded, failures == 0, holder(of: name)?.machine.generation != record.generation {
      // A newer record has taken its place.
      return finishSave(of: record, nil)
    }
    if failures == 0 { counts.saveFailures += 1 }
    handle(.saveFailed(generation: record.generation), onProfile: name)
    finishSave(of: record, failure)
    guard let slot = holder(of: name), slot.machine.wantsSaved(record) else {
      if failures > 0 { journal.forgetRetry(of: name) }
      return
    }
    if journal.noteProblem(of: name) { notify(.problem(.notSaved(name))) }
    let timer = schedule(at: now.uptime + SaveBackoff.delay(afterFailures: failures + 1)) { $0.saveAgain(name) }
    journal.retry(SaveRetry(record: record, events: events, failures: failures + 1, timer: timer))
  }

  /// Tries again now, unless a try is under way; a record that a newer one has replaced is dropped.
  func saveAgain(_ name: ProfileName) {
    guard let retry = journal.beginRetry(of: name) else { return }
    guard holder(of: name)?.machine.wantsSaved(retry.record) == true else {
      journal.forgetRetry(of: name)
      finishSave(of: retry.record, .superseded)
      return noteWorkEnded()
    }
    save(retry.record, announcing: retry.events, isRetry: true)
  }

  /// Tries now to save everything that could not be saved, up to the first that cannot be still, then goes on.
  package func saveUnsaved(then go: @escaping @Sendable (isolated Broker) -> Void) {
    saveAgain(journal.unsaved[...], go)
  }

  private func saveAgain(
    _ names: ArraySlice<ProfileName>, _ go: @escaping @Sendable (isolated Broker) -> Void
  ) {
    guard let name = names.first else { return go(self) }
    guard let generation = journal.retriedGeneration(of: name) else { return saveAgain(names.dropFirst(), go) }
    journal.await(
      name, generation,
      .retry { broker, failure in
        if failure == nil || failure == .superseded { broker.saveAgain(names.dropFirst(), go) } else { go(broker) }
      })
    saveAgain(name)
  }

  /// Stops saving the record of a profile once more: another one has taken its place.
  func dropRetry(of name: ProfileName) {
    if journal.dropRetry(of: name) { notify(.problem(.saved(name))) }
  }

  /// Does what waits for a record that is durable, or could not be made so.
  func finishSave(of record: SessionRecord, _ failure: StoreFailure?) {
    for settlement in journal.takeSettlements(of: record, isSaved: failure == nil) { settle(settlement, failure) }
  }

  /// Continues some work once the newest record of the profile is durable or has failed.
  func whenSaved(_ slot: ProfileSlot, _ settlement: Settlement) {
    journal.await(slot.name, slot.machine.generation, settlement)
  }

  /// Continues some work once the profile's changes so far are durable or have failed: at once, where there are none.
  func whenSettled(_ slot: ProfileSlot, _ settlement: Settlement) {
    guard slot.machine.settledGeneration < slot.machine.generation else { return settle(settlement, nil) }
    whenSaved(slot, settlement)
  }
}
