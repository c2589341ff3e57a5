import BrokerProtocol

/// How changes become durable, and how the events that tell of them go out.
extension Broker {
  /// Sequences are reserved in the store in blocks of this size, so that an event costs no write of its own for them.
  static let sequenceBlock: UInt64 = 1 << 20

  /// Tells of something whose truth does not hang on the store; `steps` are written with it.
  func publish(_ payload: EventPayload, profile: ProfileName?, with steps: [StoreStep] = []) {
    change(StoreChange(.note, steps, telling: [payload], of: profile))
  }

  /// Makes a change durable, tells of it, and says how that ended.
  func change(_ change: StoreChange, _ done: (@Sendable (isolated Broker, StoreFailure?) -> Void)? = nil) {
    let (id, actions) = commits.add(change, at: now.wall)
    if let done { settlements[id] = done }
    run(actions)
    reserveSequencesIfNeeded()
  }

  /// Does what the queue says, strictly in order: what an action causes comes behind what was decided before it.
  func run(_ actions: [CommitQueue.Action]) {
    commitActions += actions
    guard !isRunningCommitActions else { return }
    isRunningCommitActions = true
    while !commitActions.isEmpty {
      switch commitActions.removeFirst() {
      case .commit(let steps): commit(steps)
      case .settle(let id, let failure): settlements.removeValue(forKey: id)?(self, failure)
      case .deliver(let event):
        counts.events += 1
        for delivery in hub.publish(event) { deliver(delivery) }
      }
    }
    isRunningCommitActions = false
  }

  private func commit(_ steps: [StoreStep]) {
    let store = self.store
    inBackground {
      do throws(StoreFailure) {
        try await store.commit(steps)
        return { $0.committed(nil) }
      } catch {
        return { $0.committed(error) }
      }
    }
  }

  private func committed(_ failure: StoreFailure?) {
    if case .tampered(let profile) = failure { raiseTampering(of: profile) }
    let actions = commits.finished(failure)
    if let lost = commits.incompleteThrough { hub.noteIncomplete(through: lost) }
    run(actions)
  }

  /// Reserves the next block well before the last one is used up; where the store refuses, the next change tries again.
  private func reserveSequencesIfNeeded() {
    guard commits.isOpen, !isReserving, commits.sequence + Self.sequenceBlock / 2 > reservedThrough else { return }
    isReserving = true
    let (store, through) = (self.store, commits.sequence + Self.sequenceBlock)
    inBackground {
      do throws(StoreFailure) {
        try await store.reserveSequences(through: through)
        return { broker in
          broker.isReserving = false
          broker.reservedThrough = max(broker.reservedThrough, through)
        }
      } catch {
        return { broker in
          broker.isReserving = false
          if case .tampered(let profile) = error { broker.raiseTampering(of: profile) }
        }
      }
    }
  }
}
