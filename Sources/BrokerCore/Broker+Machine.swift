import BrokerProtocol
import SecretMemory

/// Runs what the session machines decide.
extension Broker {
  /// Lets a profile's machine decide, does what it says, and sets its next wake-up.
  func handle(_ event: SessionMachine.Event, on slot: ProfileSlot) {
    let now = self.now
    let before = slot.machine.living?.tokens
    let actions = slot.machine.handle(event, at: now)
    if slot.machine.living?.tokens != before { forgetAnswer(of: slot) }
    for action in actions { run(action, on: slot) }
    schedule(slot)
  }

  /// What was rendered before may no longer be true.
  func forgetAnswer(of slot: ProfileSlot) {
    guard slot.rendered != nil else { return }
    slot.rendered = nil
    if let position = index.find(slot.name) { answers.set(nil, at: position) }
  }

  private func run(_ action: SessionMachine.Action, on slot: ProfileSlot) {
    switch action {
    case .answerToken(let waiter, let isOffline): answer(waiter, currentToken(of: slot, isOffline: isOffline))
    case .answerError(let waiter, let error): answer(waiter, .failure(explained(error, slot)))
    case .spendRefreshToken(let flight, let token): spend(token, flight, on: slot)
    case .save(let record, let events): save(record, announcing: events, on: slot)
    case .publish(let payload): publish(payload, profile: slot.name)
    }
  }

  /// A login that waits for its code is a better answer than "log in".
  private func explained(_ error: BrokerError, _ slot: ProfileSlot) -> BrokerError {
    guard error.kind == .loginRequired, let challenge = pendingLogins.challenge(of: slot.name, at: now.wall) else {
      return error
    }
    var pending = BrokerError(.challengePending, profile: slot.name)
    pending.challenge = challenge
    return pending
  }

  private func schedule(_ slot: ProfileSlot) {
    slot.timer?.cancel()
    let name = slot.name
    slot.timer = slot.machine.nextWake(at: now).map { uptime in
      clock.schedule(at: uptime) { [weak self] in
        self?.assumeIsolated { $0.handle(.woken, onProfile: name) }
      }
    }
  }

  private func spend(_ refreshToken: Secret, _ flight: UInt64, on slot: ProfileSlot) {
    counts.refreshes += 1
    let (provider, name, id) = (slot.provider, slot.name, slot.id)
    let sentAt = now.wall
    inBackground {
      do throws(ProviderFailure) {
        let tokens = try await provider.refresh(refreshToken)
        return { broker in
          guard let slot = broker.slot(named: name, id: id) else { return }
          broker.handle(.refreshSucceeded(flight: flight, tokens, sentAt: sentAt), on: slot)
        }
      } catch {
        return { broker in
          broker.counts.refreshFailures += 1
          guard let slot = broker.slot(named: name, id: id) else { return }
          broker.handle(.refreshFailed(flight: flight, error, jitter: Double.random(in: 0...1)), on: slot)
        }
      }
    }
  }

  /// Lets a profile's machine decide, does what it says, and sets its next wake-up.
  func handle(_ event: SessionMachine.Event, onProfile name: ProfileName) {
    guard let slot = slot(named: name) else { return }
    handle(event, on: slot)
  }

  /// Awaits something slow off the loop, then does what it says on the broker.
  ///
  /// The broker is busy meanwhile.
  func inBackground(_ operation: @escaping @Sendable () async -> @Sendable (isolated Broker) -> Void) {
    work += 1
    Task {
      let finish = await operation()
      finish(self)
      work -= 1
      if !hasWork { whenIdle?() }
    }
  }

  /// How long a save that failed rests before it is tried again.
  private static let saveRetryDelay = Duration.seconds(1)

  private func save(
    _ record: SessionRecord, announcing events: [EventPayload], on slot: ProfileSlot, isRetry: Bool = false
  ) {
    let store = self.store
    inBackground {
      do throws(StoreFailure) {
        try await store.save(record)
        return { $0.saved(record, announcing: events) }
      } catch {
        return { $0.saveFailed(record, announcing: events, error, isRetry: isRetry) }
      }
    }
  }

  private func saved(_ record: SessionRecord, announcing events: [EventPayload]) {
    counts.saves += 1
    handle(.saved(generation: record.generation), onProfile: record.profile)
    for event in events { publish(event, profile: record.profile) }
    finishSave(of: record, nil)
  }

  private func saveFailed(
    _ record: SessionRecord, announcing events: [EventPayload], _ failure: StoreFailure, isRetry: Bool
  ) {
    if failure == .superseded, isRetry || slot(named: record.profile)?.machine.generation != record.generation {
      // A commit that reported an error may have been durable all the same; else a newer record has taken its place.
      if isRetry { saved(record, announcing: events) } else { finishSave(of: record, nil) }
      return
    }
    if !isRetry {
      counts.saveFailures += 1
      handle(.saveFailed(generation: record.generation), onProfile: record.profile)
      finishSave(of: record, failure)
    }
    if isRetry { finishSave(of: record, failure) }
    guard let slot = slot(named: record.profile), slot.machine.wantsSaved(record) else { return }
    unsaved += 1
    _ = clock.schedule(at: now.uptime + Self.saveRetryDelay) { [weak self] in
      self?.assumeIsolated { broker in
        broker.unsaved -= 1
        if let slot = broker.slot(named: record.profile), slot.machine.wantsSaved(record) {
          broker.save(record, announcing: events, on: slot, isRetry: true)
        } else if !broker.hasWork {
          broker.whenIdle?()
        }
      }
    }
  }

  /// Tells whoever waits for this very record to be durable.
  private func finishSave(of record: SessionRecord, _ failure: StoreFailure?) {
    let key = SaveKey(profile: record.profile, generation: record.generation)
    for done in saveWaiters.removeValue(forKey: key) ?? [] { done(failure) }
  }

  /// Calls `done` when the newest record of the profile is durable, or could not be made so.
  func whenSaved(_ slot: ProfileSlot, _ done: @escaping @Sendable (StoreFailure?) -> Void) {
    saveWaiters[SaveKey(profile: slot.name, generation: slot.machine.generation), default: []].append(done)
  }
}

/// Names one record on its way to the store.
struct SaveKey: Hashable {
  /// The profile.
  let profile: ProfileName
  /// The generation of the record.
  let generation: UInt64
}
