import BrokerProtocol

/// The changes on their way to the store, and their events: sequences, order and recipients.
///
/// A value: it does no I/O, and time comes in as an argument. Its runner performs what ``next()`` gives, strictly in
/// order.
struct EventLog {
  /// An action for the runner to carry out.
  enum Action {
    /// Commit these steps in one transaction, then say how that ended: see ``EventLog/finish(_:)``.
    case commit([StoreStep])
    /// Continue the work that waits for a change, which is durable now or has failed.
    case settle(Settlement, StoreFailure?)
    /// Deliver an event to its subscribers.
    case deliver(BrokerEvent, [SubscriptionHub.Delivery])
  }

  /// The subscriptions.
  var hub = SubscriptionHub()
  /// Pages of kept events that are wanted.
  var pages = PageQueue()
  private var commits = CommitQueue()
  /// The actions that are decided and not carried out yet.
  private var line = ActionLine<CommitQueue.Action>()
  private var settlements: [ChangeID: Settlement] = [:]
  private var reservation = SequenceReservation()
  private var isSuspicionTold = false

  /// Whether sequences are given.
  var isOpen: Bool { commits.isOpen }
  /// Whether nothing waits for the store.
  var isIdle: Bool { commits.isIdle }

  /// Begins to give sequences behind those that the store knows, unless they are given already.
  ///
  /// - Parameters:
  ///   - contents: what the store holds.
  ///   - reserved: the last sequence that the store has promised never to give again; nil where it has not.
  /// - Returns: whether the caller is to perform what ``next()`` gives.
  mutating func open(_ contents: StoreContents, reserved: UInt64?) -> Bool {
    reservation.open(through: reserved ?? contents.lastSequence)
    hub.open(after: contents.lastSequence, completeness: contents.completeness)
    return line.add(commits.open(after: contents.lastSequence))
  }

  /// Adds a change, with the work that waits for it.
  ///
  /// - Returns: whether the caller is to perform what ``next()`` gives; false where they are being performed already.
  mutating func add(_ change: StoreChange, at time: Timestamp, then settlement: Settlement?) -> Bool {
    let (id, actions) = commits.add(change, at: time)
    settlements[id] = settlement
    return line.add(actions)
  }

  /// Takes in how the commit under way ended.
  ///
  /// - Returns: whether the caller is to perform what ``next()`` gives.
  mutating func finish(_ failure: StoreFailure?) -> Bool {
    let actions = commits.finished(failure)
    if let lost = commits.incompleteThrough { hub.noteIncomplete(through: lost) }
    return line.add(actions)
  }

  /// Takes out the next action; nil at the end.
  ///
  /// Actions that it causes come behind those decided before.
  mutating func next() -> Action? {
    while let action = line.next() {
      switch action {
      case .commit(let steps): return .commit(steps)
      case .deliver(let event): return .deliver(event, hub.publish(event))
      case .settle(let id, let failure):
        if let settlement = settlements.removeValue(forKey: id) { return .settle(settlement, failure) }
      }
    }
    return nil
  }

  /// Begins to reserve the next block of sequences well before the last one is used up.
  ///
  /// - Returns: the end of the block; nil where none is to be reserved, or one is being reserved.
  mutating func beginReservation() -> UInt64? { isOpen ? reservation.begin(after: commits.sequence) : nil }

  /// Notes that a block is reserved; nil means that the store refused, and the next change tries again.
  mutating func finishReservation(through sequence: UInt64?) { reservation.finish(through: sequence) }

  /// Notes that the store as a whole cannot be trusted.
  ///
  /// - Returns: whether that is news: a reader of events cannot make it a flood.
  mutating func noteSuspicion() -> Bool {
    defer { isSuspicionTold = true }
    return !isSuspicionTold
  }

  /// Forgets that: the store is closed, and is examined when it is opened.
  mutating func forgetSuspicion() { isSuspicionTold = false }
}
