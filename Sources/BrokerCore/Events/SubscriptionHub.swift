package import BrokerProtocol

/// Names one connection, never used twice in a process.
package struct ClientID: Hashable, Sendable {
  /// The number behind the name.
  package let number: UInt64

  /// A name.
  package init(_ number: UInt64) { self.number = number }
}

/// Who is told what, and what somebody who was away has missed.
package struct SubscriptionHub: Sendable {
  /// How many events are kept in memory for `since`: some hours of a busy broker, in half a megabyte.
  package static let keptEvents = 1024

  /// Which events a subscription wants.
  package struct Wish: Sendable, Equatable {
    /// Which events; nil means all.
    package var events: Set<EventName>?
    /// Which profiles; nil means all.
    package var profiles: Set<ProfileName>?

    /// A wish.
    package init(events: Set<EventName>? = nil, profiles: Set<ProfileName>? = nil) {
      self.events = events
      self.profiles = profiles
    }

    /// Whether it is for this event; events of no profile are for everybody.
    package func includes(_ event: BrokerEvent) -> Bool {
      if let events, !events.contains(event.payload.name) { return false }
      guard let profiles, let profile = event.profile else { return true }
      return profiles.contains(profile)
    }
  }

  /// One subscription of one connection.
  struct Subscription: Sendable {
    /// Its name on the wire.
    let id: String
    /// Whose it is.
    let client: ClientID
    /// What it wants.
    let wish: Wish
  }

  /// One event on its way to one subscription.
  package struct Delivery: Sendable {
    /// The connection.
    package let client: ClientID
    /// The subscription on it.
    package let subscriptionID: String
    /// The event.
    package let event: BrokerEvent
    /// The event as it is written, shared by all its subscriptions.
    package let details: [UInt8]
  }

  /// Where the events after a sequence can be had.
  package enum Source: Sendable, Equatable {
    /// Here they are, all of them.
    case memory([BrokerEvent])
    /// The store has those up to this sequence; memory has the others.
    case store(through: UInt64)
    /// They are no longer kept, or the sequence was never told.
    case nowhere
  }

  /// The subscriptions in the order in which they began, with a gap where one has ended.
  private var subscriptions: [Subscription?] = []
  /// Where each connection's subscriptions are among them.
  private var positions: [ClientID: [Int]] = [:]
  /// How many subscriptions were looked at to end some: a measure for tests.
  package private(set) var visits = 0
  private var kept: [BrokerEvent] = []
  private var names: UInt64 = 0
  /// The sequence before the first event that memory can replay.
  private var forgottenThrough: UInt64 = 0
  /// The sequence after which the store can replay every event.
  private var completeAfter: UInt64 = 0
  /// The last sequence that was told.
  package private(set) var sequence: UInt64 = 0

  /// A hub that has told nothing yet.
  package init() {}

  /// Takes up where the events of earlier runs ended, and after which of them the store has all.
  package mutating func open(after sequence: UInt64, completeAfter: UInt64) {
    self.sequence = sequence
    forgottenThrough = sequence
    self.completeAfter = completeAfter
  }

  /// How many subscriptions there are.
  package private(set) var count = 0

  /// How many subscriptions a connection has.
  package func count(of client: ClientID) -> Int { positions[client]?.count ?? 0 }

  /// Adds a subscription and gives its name.
  package mutating func subscribe(_ client: ClientID, _ wish: Wish) -> String {
    names += 1
    let id = "s\(names)"
    positions[client, default: []].append(subscriptions.count)
    subscriptions.append(Subscription(id: id, client: client, wish: wish))
    count += 1
    return id
  }

  /// Where the events after a sequence can be had.
  package func source(since: UInt64) -> Source {
    guard since <= sequence else { return .nowhere }
    if since >= forgottenThrough { return .memory(kept.filter { $0.sequence > since }) }
    return since >= completeAfter ? .store(through: forgottenThrough) : .nowhere
  }

  /// Whether the store has, for all that is known now, every event after a sequence.
  package func mayReplay(since: UInt64) -> Bool { since >= completeAfter }

  /// Notes that the store may lack events up to this one.
  package mutating func noteIncomplete(through sequence: UInt64) { completeAfter = max(completeAfter, sequence) }

  /// Forgets the events in memory: they rest in the store.
  package mutating func forgetKept() {
    kept = []
    forgottenThrough = sequence
  }

  /// Ends a subscription of this connection; false where there is none of that name.
  package mutating func unsubscribe(_ client: ClientID, _ id: String) -> Bool {
    guard let own = positions[client] else { return false }
    visits += own.count
    guard let place = own.firstIndex(where: { subscriptions[$0]?.id == id }) else { return false }
    subscriptions[own[place]] = nil
    count -= 1
    if own.count == 1 { positions[client] = nil } else { positions[client]?.remove(at: place) }
    closeGaps()
    return true
  }

  /// Ends all subscriptions of a connection, in a time that grows with their number alone.
  package mutating func leave(_ client: ClientID) {
    guard let own = positions.removeValue(forKey: client) else { return }
    visits += own.count
    for position in own { subscriptions[position] = nil }
    count -= own.count
    closeGaps()
  }

  /// Moves subscriptions together once most places are gaps, so that each that ended has paid for one that is moved.
  private mutating func closeGaps() {
    guard subscriptions.count > 64, subscriptions.count > 2 * count else { return }
    visits += subscriptions.count
    subscriptions.removeAll { if case nil = $0 { true } else { false } }
    positions.removeAll(keepingCapacity: true)
    for (position, subscription) in subscriptions.enumerated() {
      if let client = subscription?.client { positions[client, default: []].append(position) }
    }
  }

  /// Says who is to be told of an event.
  package mutating func publish(_ event: BrokerEvent) -> [Delivery] {
    sequence = event.sequence
    if !event.payload.name.isTransient { keep(event) }
    let wanted = subscriptions.compactMap { $0.flatMap { $0.wish.includes(event) ? $0 : nil } }
    guard !wanted.isEmpty else { return [] }
    let details = event.details()
    return wanted.map { Delivery(client: $0.client, subscriptionID: $0.id, event: event, details: details) }
  }

  private mutating func keep(_ event: BrokerEvent) {
    kept.append(event)
    guard kept.count > Self.keptEvents * 2 else { return }
    forgottenThrough = kept[Self.keptEvents - 1].sequence
    kept.removeFirst(Self.keptEvents)
  }
}
