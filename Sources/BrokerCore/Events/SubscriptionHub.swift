package import BrokerProtocol

/// Names one connection, never used twice in a process.
package struct ClientID: Hashable, Sendable {
  /// The number behind the name.
  package let number: UInt64

  /// A name.
  package init(_ number: UInt64) { self.number = number }
}

/// Who is told what, in which order, and what somebody who was away has missed.
package struct SubscriptionHub: Sendable {
  /// How many events are kept in memory for `since`: some hours of a busy broker, in half a megabyte.
  static let keptEvents = 1024

  /// One subscription of one connection.
  struct Subscription: Sendable {
    /// Its name on the wire.
    let id: String
    /// Whose it is.
    let client: ClientID
    /// Which events it wants; nil means all.
    let events: Set<EventName>?
    /// Which profiles it wants; nil means all.
    let profiles: Set<ProfileName>?

    /// Whether an event is for this subscription; events of no profile are for everybody.
    func wants(_ event: BrokerEvent) -> Bool {
      if let events, !events.contains(event.payload.name) { return false }
      guard let profiles, let profile = event.profile else { return true }
      return profiles.contains(profile)
    }
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

  private var subscriptions: [Subscription] = []
  private var kept: [BrokerEvent] = []
  private var names: UInt64 = 0
  /// The sequence before the first event that this process can replay.
  private var forgottenThrough: UInt64
  /// The last sequence that was given.
  package private(set) var sequence: UInt64

  /// A hub whose events follow `sequence`.
  package init(after sequence: UInt64) {
    self.sequence = sequence
    forgottenThrough = sequence
  }

  /// How many subscriptions there are.
  package var count: Int { subscriptions.count }

  /// How many subscriptions a connection has.
  package func count(of client: ClientID) -> Int { subscriptions.count { $0.client == client } }

  /// Adds a subscription; gives its name, the events since `since`, and whether those are no longer kept.
  package mutating func subscribe(
    _ client: ClientID, events: Set<EventName>?, profiles: Set<ProfileName>?, since: UInt64?
  ) -> (id: String, missed: [BrokerEvent], mustResync: Bool) {
    names += 1
    let subscription = Subscription(id: "s\(names)", client: client, events: events, profiles: profiles)
    subscriptions.append(subscription)
    guard let since else { return (subscription.id, [], false) }
    guard since >= forgottenThrough, since <= sequence else { return (subscription.id, [], true) }
    let missed = kept.filter { $0.sequence > since && subscription.wants($0) }
    return (subscription.id, missed, false)
  }

  /// Ends a subscription of this connection; false where there is none of that name.
  package mutating func unsubscribe(_ client: ClientID, _ id: String) -> Bool {
    let before = subscriptions.count
    subscriptions.removeAll { $0.client == client && $0.id == id }
    return subscriptions.count < before
  }

  /// Ends all subscriptions of a connection.
  package mutating func leave(_ client: ClientID) {
    subscriptions.removeAll { $0.client == client }
  }

  /// Gives an event its place and says who is to be told.
  package mutating func publish(
    _ payload: EventPayload, profile: ProfileName?, at time: Timestamp
  ) -> [Delivery] {
    sequence += 1
    let event = BrokerEvent(sequence: sequence, profile: profile, time: time, payload: payload)
    if !payload.name.isTransient { keep(event) }
    let wanted = subscriptions.filter { $0.wants(event) }
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
