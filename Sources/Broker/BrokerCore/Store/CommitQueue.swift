package import BrokerProtocol

/// Actions that are carried out strictly in order: the consequences of one come behind what was decided before it.
struct ActionLine<Action> {
  private var waiting: [Action] = []
  private var isMoving = false

  /// Appends actions.
  ///
  /// - Returns: whether the caller is to carry them out, with ``next()``; false where another caller does already.
  mutating func add(_ actions: [Action]) -> Bool {
    waiting += actions
    guard !isMoving else { return false }
    isMoving = true
    return true
  }

  /// Takes out the next action; nil at the end of the line.
  mutating func next() -> Action? {
    guard waiting.isEmpty else { return waiting.removeFirst() }
    isMoving = false
    return nil
  }
}

/// Names one change on its way to the store.
package struct ChangeID: Hashable, Sendable {
  /// Never used twice in a process.
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

/// The changes that wait to be made durable, and the events that wait for them: one commit at a time, events in order.
///
/// Events get their sequences as they enter. Each is delivered once it is durable and all before it are delivered;
/// those that are not kept wait behind the others. A value: it does no I/O, and time comes in as an argument.
package struct CommitQueue: Sendable {
  /// An action for the runner to carry out.
  package enum Action: Sendable, Equatable {
    /// Commit these steps in one transaction, then say how that ended: see ``finished(_:)``.
    case commit([StoreStep])
    /// Tell the caller that made the change how it ended.
    case settle(ChangeID, StoreFailure?)
    /// Hand the event to its subscribers.
    case deliver(BrokerEvent)
  }

  /// The most notes in one commit: enough for any burst, few enough that a record behind them waits for milliseconds.
  static let mergedNotes = 256
  /// The most records in one commit, which are larger: as many as providers are asked at a time, some times over.
  package static let mergedRecords = 64

  private struct Entry: Sendable {
    let id: ChangeID
    let kind: StoreChange.Kind
    /// The profile that it concerns; nil for none.
    let profile: ProfileName?
    var steps: [StoreStep]
    let lastKept: UInt64?
    /// Whether its record may rest in the store already.
    var isRetry: Bool
    /// Whether it has a commit to itself: one of those that it was committed with was refused.
    var isAlone = false

    /// Whether it may share a commit.
    var mayBeMerged: Bool { !isRetry && !isAlone }
  }

  private struct Outgoing: Sendable {
    let event: BrokerEvent
    /// The change that must be durable first; nil where nothing must.
    var change: ChangeID?
  }

  private var names: UInt64 = 0
  private var waiting: [Entry] = []
  private var underWay: [Entry] = []
  private var outgoing: [Outgoing] = []
  private var held: [(id: ChangeID, change: StoreChange, time: Timestamp)] = []
  /// Whether sequences are given.
  package private(set) var isOpen = false
  /// The mark that the commit under way carries.
  private var markUnderWay: UInt64?
  /// The last event that was published but could not be kept, or that was not published and may be kept all the same,
  /// as a commit that reports an error may be durable: until the store knows that its events are not the published
  /// ones.
  package private(set) var incompleteThrough: UInt64?
  /// The last sequence that was given.
  package private(set) var sequence: UInt64 = 0

  /// A queue that holds everything back until it is known which sequences were given: see ``open(after:)``.
  package init() {}

  /// Whether nothing waits for the store.
  package var isIdle: Bool { waiting.isEmpty && underWay.isEmpty }

  /// Begins to give sequences after this one, first to the events that were held back.
  package mutating func open(after sequence: UInt64) -> [Action] {
    guard !isOpen else { return [] }
    isOpen = true
    self.sequence = sequence
    let entering = held
    held = []
    return entering.flatMap { enter($0.id, $0.change, $0.time) }
  }

  /// Takes a change in.
  package mutating func add(_ change: StoreChange, at time: Timestamp) -> (id: ChangeID, actions: [Action]) {
    names += 1
    let id = ChangeID(names)
    guard isOpen else {
      held.append((id, change, time))
      return (id, [])
    }
    return (id, enter(id, change, time))
  }

  private mutating func enter(_ id: ChangeID, _ change: StoreChange, _ time: Timestamp) -> [Action] {
    var steps = change.steps
    var lastKept: UInt64?
    for payload in change.events {
      sequence += 1
      let event = BrokerEvent(sequence: sequence, profile: change.profile, time: time, payload: payload.fitted)
      outgoing.append(Outgoing(event: event, change: payload.name.isTransient ? nil : id))
      guard !payload.name.isTransient else { continue }
      steps.append(.event(event))
      lastKept = sequence
    }
    guard !steps.isEmpty else { return [.settle(id, nil)] + deliverReady() }
    waiting.append(
      Entry(
        id: id, kind: change.kind, profile: change.profile, steps: steps, lastKept: lastKept, isRetry: change.isRetry))
    return commitNext()
  }

  /// Takes in how the commit under way ended.
  package mutating func finished(_ failure: StoreFailure?) -> [Action] {
    let done = underWay
    underWay = []
    if failure == nil, incompleteThrough == markUnderWay { incompleteThrough = nil }
    markUnderWay = nil
    if failure == .superseded, done.count > 1 { return commitOneByOne(done) }
    if failure == .superseded, let entry = done.first, entry.isRetry { return commitRest(of: entry) }
    return settle(done, failure)
  }

  /// Tries changes again, each in a commit of its own: one of them was refused, and with it none of the others was
  /// written.
  private mutating func commitOneByOne(_ done: [Entry]) -> [Action] {
    var again = done
    for index in again.indices { again[index].isAlone = true }
    waiting.insert(contentsOf: again, at: 0)
    return commitNext()
  }

  /// Writes the events of a record that is there already, in its place: they are published before those of later
  /// changes.
  ///
  /// The commit that was tried before was durable, whatever it has reported.
  private mutating func commitRest(of entry: Entry) -> [Action] {
    var rest = entry
    rest.isRetry = false
    rest.isAlone = true
    rest.steps.removeAll { step in
      guard case .record = step else { return false }
      return true
    }
    guard !rest.steps.isEmpty else { return settle([entry], nil) }
    waiting.insert(rest, at: 0)
    return commitNext()
  }

  private mutating func settle(_ done: [Entry], _ failure: StoreFailure?) -> [Action] {
    for entry in done {
      // Of what is superseded nothing was written.
      if failure != nil, failure != .superseded, let last = entry.lastKept {
        incompleteThrough = max(incompleteThrough ?? 0, last)
      }
      if failure != nil, entry.kind == .record {
        outgoing.removeAll { $0.change == entry.id }
        continue
      }
      for index in outgoing.indices where outgoing[index].change == entry.id { outgoing[index].change = nil }
    }
    return done.map { .settle($0.id, failure) } + deliverReady() + commitNext()
  }

  private mutating func deliverReady() -> [Action] {
    let ready = outgoing.prefix { $0.change == nil }
    outgoing.removeFirst(ready.count)
    return ready.map { .deliver($0.event) }
  }

  /// Begins the next commit: records that wait together share one, and so do notes, and with it the time of the disk.
  ///
  /// Not the two together, since a record that cannot be saved takes its events with it and a note does not; nor two
  /// records of one profile, of which the first is answered for before the next one is durable. Where a commit is refused
  /// because a record is superseded, each of its changes has one to itself.
  private mutating func commitNext() -> [Action] {
    guard underWay.isEmpty, let first = waiting.first else { return [] }
    var profiles: Set<ProfileName?> = []
    let most = first.kind == .record ? Self.mergedRecords : Self.mergedNotes
    let merged = waiting.prefix(most).prefix { entry in
      entry.mayBeMerged && entry.kind == first.kind
        && (entry.kind == .note || profiles.insert(entry.profile).inserted)
    }
    let count = first.mayBeMerged ? merged.count : 1
    underWay = Array(waiting.prefix(count))
    waiting.removeFirst(count)
    markUnderWay = incompleteThrough
    let mark = markUnderWay.map { [StoreStep.eventsIncomplete(through: $0)] } ?? []
    return [.commit(mark + underWay.flatMap(\.steps))]
  }
}

/// The sequences that the store has promised never to give again, whatever crash comes.
///
/// They are reserved in blocks, so that an event costs no write of its own for them.
struct SequenceReservation {
  /// How many are reserved at a time.
  static let block: UInt64 = 1 << 20

  /// The last one that is reserved.
  private(set) var through: UInt64 = 0
  private var isUnderWay = false

  /// Begins with the range that was reserved before the first event.
  mutating func open(through sequence: UInt64) { through = sequence }

  /// Begins to reserve the next block well before the last one is used up.
  ///
  /// - Parameter sequence: the last one that was given.
  /// - Returns: the end of the block that is to be reserved; nil where none is, or one is being reserved.
  mutating func begin(after sequence: UInt64) -> UInt64? {
    guard !isUnderWay, sequence + Self.block / 2 > through else { return nil }
    isUnderWay = true
    return sequence + Self.block
  }

  /// Notes that a block is reserved; nil means that the store refused, and the next change tries again.
  mutating func finish(through sequence: UInt64?) {
    isUnderWay = false
    through = max(through, sequence ?? 0)
  }
}
