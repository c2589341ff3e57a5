import BrokerProtocol

/// Committing changes, and publishing their events.
extension Broker {
  /// Tells of something whose truth does not hang on the store.
  func publish(_ payload: EventPayload, profile: ProfileName?) {
    change(StoreChange(.note, telling: [payload], of: profile))
  }

  /// Makes a change durable and publishes its events, then continues the work that waits for it.
  func change(_ change: StoreChange, then settlement: Settlement? = nil) {
    if let store = change.steps.first.flatMap({ sharedRecords(of: $0) }) {
      return commit(change, to: store, then: settlement)
    }
    if eventLog.add(change, at: now.wall, then: settlement) { performLog() }
    reserveSequencesIfNeeded()
  }

  /// Begins to give sequences, unless they are given already; `reserved` is the last one that the store has promised.
  func openEvents(_ contents: StoreContents, reserved: UInt64?) {
    guard !eventLog.isOpen else { return }
    if reserved == nil { notify(.problem(.sequencesNotReserved)) }
    if eventLog.open(contents, reserved: reserved) { performLog() }
  }

  /// Carries out the log's actions, strictly in order.
  private func performLog() {
    while let action = eventLog.next() {
      switch action {
      case .commit(let steps): commit(steps)
      case .settle(let settlement, let failure): settle(settlement, failure)
      case .deliver(let event, let deliveries):
        counts.events += 1
        notify(.told(event))
        for delivery in deliveries { notify(.delivery(delivery)) }
      }
    }
  }

  /// Asks the store, and continues with its result.
  func askStore<Value: Sendable>(
    _ question: @escaping @Sendable (any SessionStore & StoreKeeper) async throws(StoreFailure) -> Value,
    then go: @escaping @Sendable (isolated Broker, Result<Value, StoreFailure>) -> Void
  ) {
    let store = self.store
    inBackground {
      do throws(StoreFailure) {
        let value = try await question(store)
        return { go($0, .success(value)) }
      } catch {
        return { go($0, .failure(error)) }
      }
    }
  }

  private func commit(_ steps: [StoreStep]) {
    askStore { store throws(StoreFailure) in
      try await store.commit(steps)
    } then: { broker, result in
      if case .failure(.tampered(let profile)) = result { broker.raiseTampering(of: profile) }
      if broker.eventLog.finish(result.failure) { broker.performLog() }
    }
  }

  /// Reserves the next block well before the last one is used up; where the store refuses, the next change tries again.
  private func reserveSequencesIfNeeded() {
    guard let through = eventLog.beginReservation() else { return }
    askStore { store throws(StoreFailure) in
      try await store.reserveSequences(through: through)
    } then: { broker, result in
      broker.eventLog.finishReservation(through: result.failure == nil ? through : nil)
      if case .failure(.tampered(let profile)) = result { broker.raiseTampering(of: profile) }
    }
  }

  /// Has a store promise that the block of sequences after one is never given again; returns the last of them, or nil
  /// where it cannot.
  ///
  /// For ``apart(_:)`` alone: optimised code comes out of a call that failed on the thread that refused it.
  static func reserveSequences(_ store: any SessionStore, after last: UInt64) async -> UInt64? {
    let through = last + SequenceReservation.block
    do throws(StoreFailure) {
      try await store.reserveSequences(through: through)
      return through
    } catch {
      return nil
    }
  }
}

/// Continuing the work that waits for the store.
extension Broker {
  /// Continues the work that waits for a change, which is durable now or has failed.
  func settle(_ settlement: Settlement, _ failure: StoreFailure?) {
    switch settlement {
    case .intent(let slot, let flight, let since): settleIntent(slot, flight, since, failure)
    case .record(let save): settle(save, failure)
    case .revocation(let id):
      if failure == nil { handle(.kept(id)) }
    case .logout(let id, let profile):
      let isShared = holder(of: profile)?.records != nil
      note(id) { logout in
        logout.unsaved.remove(profile)
        if failure != nil { logout.unwritten.append((profile, isShared)) }
      }
    case .leftSession(let id, let profile):
      note(id) { logout in
        logout.unsaved.remove(profile)
        if failure != nil { logout.hasLeftSessions = true }
      }
    case .parkedEnd(let end): settle(end, failure)
    case .sessionCheck(let check): close(check, failure)
    case .loginBeforeCheck(let check): examine(check)
    case .account(let caller, let profile, let others, let reason):
      guard failure == nil else { return refuse(caller.id, Self.unsaved(profile)) }
      check(others.compactMap { slot(named: $0) }, reason, for: caller, Empty(), of: profile)
    case .retry(let go), .request(let go): go(self, failure)
    case .login(let settlement): settle(settlement, failure)
    }
  }

  private func settleIntent(_ id: SlotID, _ flight: UInt64, _ since: Duration, _ failure: StoreFailure?) {
    guard let slot = holder(id) else { return }
    switch failure {
    case nil where leaseOutlasts(slot, since): handle(.intentSaved(flight: flight), on: slot)
    case nil: handle(.intentHeld(flight: flight, for: .zero), on: slot)
    case .held(let rest):
      handle(.intentHeld(flight: flight, for: rest), on: slot)
      slot.records.map { poll($0) }
    case .superseded: readAgain(for: flight, on: slot)
    case .failed, .tampered, .locked: handle(.intentFailed(flight: flight), on: slot)
    }
  }

  /// The error where the provider made the change, and the vault could not be written.
  static func unsaved(_ profile: ProfileName?) -> BrokerError {
    let message = "The provider made the change, but the vault could not be written; the write is retried."
    return BrokerError(.storeFailed, message, profile: profile)
  }
}
