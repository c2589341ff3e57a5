package import BrokerProtocol

/// Who is told what.
extension Broker {
  /// Sequences are reserved in the store in blocks of this size, so that an event costs no write of its own.
  private static let sequenceBlock: UInt64 = 1 << 20

  /// Gives an event its place and hands it to its subscribers.
  func publish(_ payload: EventPayload, profile: ProfileName?) {
    counts.events += 1
    for delivery in hub.publish(payload, profile: profile, at: now.wall) { deliver(delivery) }
    reserveSequencesIfNeeded()
  }

  /// Reserves the next block well before the last one is used up.
  func reserveSequencesIfNeeded() {
    guard !isReserving, hub.sequence + Self.sequenceBlock / 2 > reservedThrough else { return }
    inBackground { [weak self] in
      _ = await self?.reserveSequences()
      return { _ in }
    }
  }

  /// Lets the store promise that the next block of sequences is never given again; whether it did.
  func reserveSequences() async -> Bool {
    isReserving = true
    let through = hub.sequence + Self.sequenceBlock
    do throws(StoreFailure) {
      try await store.reserveSequences(through: through)
      reservedThrough = max(reservedThrough, through)
      isReserving = false
      return true
    } catch {
      isReserving = false
      return false
    }
  }

  /// Begins a subscription of a connection: its name, the state, and the events that it has missed.
  package func subscribe(
    _ params: Subscribe.Params, client: ClientID, limit: Int
  ) throws(BrokerError) -> (result: Subscribe.Result, missed: [SubscriptionHub.Delivery]) {
    guard hub.count(of: client) < limit else {
      throw BrokerError(.overloaded, "A connection may have at most \(limit) subscriptions.")
    }
    let events = try Self.names(params.events)
    let profiles = params.profiles.map(Set.init)
    for profile in params.profiles ?? [] where slot(named: profile) == nil {
      throw BrokerError(.unknownProfile, profile: profile)
    }
    let since = params.since.map { UInt64(clamping: $0) }
    let (id, missed, mustResync) = hub.subscribe(client, events: events, profiles: profiles, since: since)
    let states = sessions.filter { profiles?.contains($0.profile) ?? true }
    let result = Subscribe.Result(
      subscriptionID: id, sequence: Int(clamping: hub.sequence), sessions: states, resync: mustResync ? true : nil)
    return (
      result,
      missed.map { SubscriptionHub.Delivery(client: client, subscriptionID: id, event: $0, details: $0.details()) }
    )
  }

  private static func names(_ wanted: [String]?) throws(BrokerError) -> Set<EventName>? {
    guard let wanted else { return nil }
    var names: Set<EventName> = []
    for (position, text) in wanted.enumerated() {
      guard let name = EventName(rawValue: text) else {
        throw misfit("/events/\(position)", "There is no event of the name at /events/\(position).")
      }
      names.insert(name)
    }
    return names
  }

  /// Ends a subscription.
  package func unsubscribe(_ params: Unsubscribe.Params, client: ClientID) throws(BrokerError) {
    guard hub.unsubscribe(client, params.subscriptionID) else {
      throw Self.misfit("/subscriptionId", "This connection has no such subscription.")
    }
  }

  /// Forgets everything that a connection had.
  package func leave(_ client: ClientID) { hub.leave(client) }

  /// The last sequence that was given.
  package var sequence: UInt64 { hub.sequence }

  /// How many subscriptions there are.
  package var subscriptionCount: Int { hub.count }

  /// Tells everybody that the broker ends.
  package func announceShutdown() { publish(.shuttingDown, profile: nil) }
}
