package import BrokerProtocol

/// The subscriptions: the events of each client, and those that it missed while it was away.
package struct SubscriptionHub: Sendable {
  /// The number of events kept in memory for `since`: some hours of a busy broker, in half a megabyte, so that a
  /// program that was away for a while costs the store nothing.
  package static let keptEvents = 1024

  /// How many events of a replay are told at once.
  package static let pageCount = 256

  /// One subscription of one connection.
  struct Subscription: Sendable {
    /// Its name on the wire.
    let id: String
    /// The connection that it belongs to.
    let client: ClientID
    /// The filter.
    var wish: Wish
    /// The last delivered event while a replay is under way; nil after that.
    var cursor: UInt64?
    /// The sequence at which it began: events that are not kept are for it only after that.
    let begunAt: UInt64
    /// The number of delivered events, where that is their sequence.
    var told: UInt64 = 0
  }

  /// The subscriptions of one connection.
  private struct Own {
    /// Their positions in the list of all.
    var positions: [Int] = []
    /// How many it ever had: their names tell nothing of those of others.
    var names: UInt64 = 0
  }

  /// The next step of a replay.
  package enum Page: Sendable, Equatable {
    /// No page: the subscription gets events as they happen.
    case none
    /// These events; `isLast` says that nothing comes behind them.
    case events([BrokerEvent], isLast: Bool)
    /// Events that the store has.
    case store(after: UInt64, through: UInt64)
    /// These sequences are no longer available; the replay goes on behind them.
    case lost(from: UInt64, through: UInt64)
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

  /// The place that has the events after a sequence.
  package enum Source: Sendable, Equatable {
    /// Here they are, all of them.
    case memory([BrokerEvent])
    /// The store has those up to this sequence; memory has the others.
    case store(through: UInt64)
    /// They are no longer kept, or the sequence was never published.
    case nowhere

    /// Whether the store is not needed.
    var isMemory: Bool {
      if case .memory = self { true } else { false }
    }
  }

  /// The subscriptions in the order in which they began, with a gap where one has ended.
  private var subscriptions: [Subscription?] = []
  /// The subscriptions of each connection that ever had one.
  private var own: [ClientID: Own] = [:]
  /// How many subscriptions were examined to end some: a measure for tests.
  package private(set) var visits = 0
  private var kept: [BrokerEvent] = []
  /// The sequence before the first event that memory can replay.
  private var forgottenThrough: UInt64 = 0
  /// The sequences after which the store can replay every event.
  private var completeness = EventCompleteness()
  /// The last published sequence.
  package private(set) var sequence: UInt64 = 0

  /// A hub without events.
  package init() {}

  /// Resumes behind the events of earlier runs, with the sequence from which on the store has all.
  package mutating func open(after sequence: UInt64, completeness: EventCompleteness) {
    self.sequence = sequence
    forgottenThrough = sequence
    self.completeness = completeness
  }

  /// How many subscriptions there are.
  package private(set) var count = 0

  /// How many subscriptions a connection has.
  package func count(of client: ClientID) -> Int { own[client]?.positions.count ?? 0 }

  /// Adds a subscription and returns its name; `cursor` is the last event that it knows, where ``nextPage(of:_:)``
  /// gives it the later ones.
  package mutating func subscribe(_ client: ClientID, _ wish: Wish, after cursor: UInt64? = nil) -> String {
    own[client, default: Own()].names += 1
    own[client]?.positions.append(subscriptions.count)
    let id = "s\(own[client]?.names ?? 0)"
    subscriptions.append(Subscription(id: id, client: client, wish: wish, cursor: cursor, begunAt: sequence))
    count += 1
    return id
  }

  /// Returns the place that has the events after a sequence, for a subscriber with this filter.
  package func source(since: UInt64, _ wish: Wish = Wish()) -> Source {
    guard since <= sequence else { return .nowhere }
    if since >= forgottenThrough {
      return .memory(kept.filter { $0.sequence > since && !$0.payload.name.isTransient })
    }
    return mayReplay(since: since, wish) ? .store(through: forgottenThrough) : .nowhere
  }

  /// Whether the store has, as far as is known now, every event after a sequence that the filter passes.
  package func mayReplay(since: UInt64, _ wish: Wish = Wish()) -> Bool {
    since >= (wish.isLasting ? completeness.lasting : completeness.all)
  }

  /// Notes that the store may lack events up to this one, of whatever kind.
  package mutating func noteIncomplete(through sequence: UInt64) {
    completeness.lose(through: sequence, lasting: true)
  }

  /// Adds the store's own gaps.
  package mutating func note(_ completeness: EventCompleteness) {
    self.completeness = self.completeness.joined(with: completeness)
  }

  /// Returns the next page of missed events for a subscription, and counts a page from memory as delivered.
  package mutating func nextPage(of client: ClientID, _ id: String) -> Page {
    guard let index = index(client, id), let subscription = subscriptions[index], let cursor = subscription.cursor
    else {
      return .none
    }
    guard cursor >= forgottenThrough else {
      let complete = subscription.wish.isLasting ? completeness.lasting : completeness.all
      guard cursor < complete else { return .store(after: cursor, through: forgottenThrough) }
      return skip(through: min(complete, forgottenThrough), index, cursor)
    }
    let rest = kept.drop { $0.sequence <= cursor }
    let page = rest.prefix(Self.pageCount)
    let isLast = page.count == rest.count
    subscriptions[index]?.cursor = isLast ? nil : page.last?.sequence
    return .events(
      page.filter { !$0.payload.name.isTransient || $0.sequence > subscription.begunAt }, isLast: isLast)
  }

  /// Notes that a page of the store has given a subscription everything up to a sequence.
  package mutating func advance(_ client: ClientID, _ id: String, through sequence: UInt64) {
    guard let index = index(client, id), let cursor = subscriptions[index]?.cursor else { return }
    subscriptions[index]?.cursor = max(cursor, sequence)
  }

  /// Gives up the events that the store cannot give: the missed events in memory come next.
  package mutating func skipStore(_ client: ClientID, _ id: String) -> Page {
    guard let index = index(client, id), let cursor = subscriptions[index]?.cursor, cursor < forgottenThrough else {
      return .none
    }
    return skip(through: forgottenThrough, index, cursor)
  }

  private mutating func skip(through sequence: UInt64, _ index: Int, _ cursor: UInt64) -> Page {
    subscriptions[index]?.cursor = sequence
    return .lost(from: cursor + 1, through: sequence)
  }

  /// Whether a replay of a subscription is under way.
  package func isReplaying(_ client: ClientID, _ id: String) -> Bool {
    index(client, id).map { subscriptions[$0]?.cursor != nil } ?? false
  }

  /// The filter of a subscription; nil where the connection has none of that name.
  package func wish(of client: ClientID, _ id: String) -> Wish? {
    index(client, id).flatMap { subscriptions[$0]?.wish }
  }

  private func index(_ client: ClientID, _ id: String) -> Int? {
    own[client]?.positions.first { subscriptions[$0]?.id == id }
  }

  /// Forgets the events in memory: they rest in the store.
  package mutating func forgetKept() {
    kept = []
    forgottenThrough = sequence
  }

  /// Ends a subscription of this connection; false where there is none of that name.
  package mutating func unsubscribe(_ client: ClientID, _ id: String) -> Bool {
    guard let positions = own[client]?.positions else { return false }
    visits += positions.count
    guard let place = positions.firstIndex(where: { subscriptions[$0]?.id == id }) else { return false }
    subscriptions[positions[place]] = nil
    count -= 1
    own[client]?.positions.remove(at: place)
    closeGaps()
    return true
  }

  /// Ends all subscriptions of a connection, in a time that grows with their number alone.
  package mutating func leave(_ client: ClientID) {
    guard let positions = own.removeValue(forKey: client)?.positions else { return }
    visits += positions.count
    for position in positions { subscriptions[position] = nil }
    count -= positions.count
    closeGaps()
  }

  /// Moves subscriptions together once most places are gaps, so that each that ended has paid for one that is moved.
  private mutating func closeGaps() {
    guard subscriptions.count > 64, subscriptions.count > 2 * count else { return }
    visits += subscriptions.count
    subscriptions.removeAll { if case nil = $0 { true } else { false } }
    for index in own.values.indices { own.values[index].positions = [] }
    for (position, subscription) in subscriptions.enumerated() {
      if let client = subscription?.client { own[client]?.positions.append(position) }
    }
  }

  /// Shows a connection other profiles from now on; where it counts events of its own, it goes on above those that it
  /// was told.
  package mutating func show(_ visible: ProfileMask, consents: Bool = false, to client: ClientID) {
    for position in own[client]?.positions ?? [] {
      if subscriptions[position]?.wish.visible.isAll == true { subscriptions[position]?.told = sequence }
      subscriptions[position]?.wish.visible = visible
      subscriptions[position]?.wish.hearsConsents = consents
    }
  }

  /// Adds an event, and returns its deliveries.
  package mutating func publish(_ event: BrokerEvent) -> [Delivery] {
    sequence = event.sequence
    keep(event)
    // One that is still told of earlier events comes to this one later.
    let wanted = subscriptions.indices.filter { position in
      guard let subscription = subscriptions[position], subscription.cursor == nil else { return false }
      return subscription.wish.includes(event)
    }
    guard !wanted.isEmpty else { return [] }
    let details = event.details()
    return wanted.compactMap { delivery(of: event, details, at: $0) }
  }

  /// The event for one subscription, which has a count of its own where profiles are hidden from it.
  private mutating func delivery(of event: BrokerEvent, _ details: [UInt8], at position: Int) -> Delivery? {
    guard let subscription = subscriptions[position] else { return nil }
    let (client, id) = (subscription.client, subscription.id)
    guard !subscription.wish.visible.isAll else {
      return Delivery(client: client, subscriptionID: id, event: event, details: details)
    }
    subscriptions[position]?.told += 1
    var own = event
    own.sequence = subscription.told + 1
    return Delivery(client: client, subscriptionID: id, event: own, details: own.details())
  }

  private mutating func keep(_ event: BrokerEvent) {
    kept.append(event)
    guard kept.count > Self.keptEvents * 2 else { return }
    forgottenThrough = kept[Self.keptEvents - 1].sequence
    kept.removeFirst(Self.keptEvents)
  }
}
