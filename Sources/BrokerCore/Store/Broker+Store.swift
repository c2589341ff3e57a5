import BrokerProtocol

/// How changes become durable, and how the events that tell of them go out.
extension Broker {
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
    guard commitActions.add(actions) else { return }
    while let action = commitActions.next() {
      switch action {
      case .commit(let steps): commit(steps)
      case .settle(let id, let failure): settlements.removeValue(forKey: id)?(self, failure)
      case .deliver(let event):
        counts.events += 1
        for delivery in hub.publish(event) { notify(.delivery(delivery)) }
      }
    }
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
    guard commits.isOpen, let through = reservation.begin(after: commits.sequence) else { return }
    let store = self.store
    inBackground {
      do throws(StoreFailure) {
        try await store.reserveSequences(through: through)
        return { $0.reservation.finish(through: through) }
      } catch {
        return { broker in
          broker.reservation.finish(through: nil)
          if case .tampered(let profile) = error { broker.raiseTampering(of: profile) }
        }
      }
    }
  }
}
