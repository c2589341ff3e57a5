package import BrokerProtocol

/// Who is told what.
extension Broker {
  /// A subscription that has begun: its answer, and the events that come behind it.
  package struct Subscribed: Sendable {
    /// The answer.
    package let result: Subscribe.Result
    /// What was missed since the sequence that the request named.
    package let missed: [SubscriptionHub.Delivery]
  }

  /// A subscription that is wanted.
  private struct SubscriptionRequest: Sendable {
    let client: ClientID
    let limit: Int
    let wish: SubscriptionHub.Wish
    let reply: Reply<Subscribed>
  }

  /// Readings of the store for one subscription: each is overtaken only by a thousand events in the meantime.
  private static let replayRounds = 3

  /// Begins a subscription of a connection: its name, the state, and the events that it has missed.
  ///
  /// Memory has the newest events; older ones are read from the store first. The subscription begins in the instant in
  /// which all that was missed is there, so nothing is told twice or not at all.
  package func subscribe(
    _ params: Subscribe.Params, client: ClientID, limit: Int, _ reply: @escaping Reply<Subscribed>
  ) {
    do throws(BrokerError) {
      try requireRoom(client, limit)
      let wish = SubscriptionHub.Wish(events: try Self.names(params.events), profiles: params.profiles.map(Set.init))
      for profile in params.profiles ?? [] where slot(named: profile) == nil {
        throw BrokerError(.unknownProfile, profile: profile)
      }
      let request = SubscriptionRequest(client: client, limit: limit, wish: wish, reply: reply)
      guard let since = params.since else { return begin(request, missed: []) }
      replay(request, since: UInt64(clamping: since), read: [], rounds: 0)
    } catch {
      reply(.failure(error))
    }
  }

  private func requireRoom(_ client: ClientID, _ limit: Int) throws(BrokerError) {
    guard hub.count(of: client) < limit else {
      throw BrokerError(.overloaded, "A connection may have at most \(limit) subscriptions.")
    }
  }

  /// Begins with the events since a sequence, behind those that were read already; nil means that they cannot be had.
  private func replay(_ request: SubscriptionRequest, since: UInt64, read: [BrokerEvent]?, rounds: Int) {
    // A store that has given as many as it keeps may have dropped some before them.
    guard let read, read.count < EventRetention.count else { return begin(request, missed: nil) }
    switch hub.source(since: since) {
    case .memory(let events): begin(request, missed: read + events)
    case .nowhere: begin(request, missed: nil)
    case .store(let through):
      guard gate == .unlocked, rounds < Self.replayRounds else { return begin(request, missed: nil) }
      readEvents(after: since, through: through) { broker, events in
        let isComplete = broker.hub.mayReplay(since: since)
        broker.replay(
          request, since: through, read: isComplete ? events.map { read + $0 } : nil, rounds: rounds + 1)
      }
    }
  }

  /// Reads events from the store, which also says how far back it still has all of them.
  private func readEvents(
    after since: UInt64, through: UInt64, _ done: @escaping @Sendable (isolated Broker, [BrokerEvent]?) -> Void
  ) {
    let store = self.store
    inBackground {
      do throws(StoreFailure) {
        let stored = try await store.events(after: since, through: through)
        return { broker in
          broker.hub.noteIncomplete(through: stored.completeAfter)
          done(broker, stored.events)
        }
      } catch {
        return { broker in
          if case .tampered = error { broker.raiseTampering(of: nil) }
          done(broker, nil)
        }
      }
    }
  }

  private func begin(_ request: SubscriptionRequest, missed: [BrokerEvent]?) {
    do throws(BrokerError) {
      try requireRoom(request.client, request.limit)
    } catch {
      return request.reply(.failure(error))
    }
    let id = hub.subscribe(request.client, request.wish)
    let states = sessions.filter { request.wish.profiles?.contains($0.profile) ?? true }
    let result = Subscribe.Result(
      subscriptionID: id, sequence: Int(clamping: hub.sequence), sessions: states, resync: missed == nil ? true : nil)
    let deliveries = (missed ?? []).filter(request.wish.includes).map { event in
      SubscriptionHub.Delivery(client: request.client, subscriptionID: id, event: event, details: event.details())
    }
    request.reply(.success(Subscribed(result: result, missed: deliveries)))
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
  package func leave(_ client: ClientID) {
    hub.leave(client)
    keyAttempts.forget(client)
  }

  /// The sequence of the last event that was told.
  package var sequence: UInt64 { hub.sequence }

  /// How many subscriptions there are.
  package var subscriptionCount: Int { hub.count }

  /// Tells everybody that the broker ends; what rests in the store until the next start is not begun any more.
  package func announceShutdown() {
    handle(.closed)
    publish(.shuttingDown, profile: nil)
  }

  /// Tells everybody that what rests in the store is not what was written; what is of no profile, once.
  func raiseTampering(of profile: ProfileName?) {
    if profile == nil {
      guard !isSuspicionTold else { return }
      isSuspicionTold = true
    }
    publish(.securityAlert(SecurityAlertEvent(kind: .storeTampering)), profile: profile)
    report(.storeTampered(profile))
  }

  /// Tells of a failure that may be an attack: at most once a profile and minute, since it comes with every try.
  func noteFailure(_ failure: ProviderFailure, of profile: ProfileName) {
    guard failure.kind == .tlsPinMismatch, let slot = holder(of: profile) else { return }
    let uptime = now.uptime
    if let last = slot.lastRefusal[.securityAlert], uptime - last < .seconds(60) { return }
    slot.lastRefusal[.securityAlert] = uptime
    publish(.securityAlert(SecurityAlertEvent(kind: .pinMismatch)), profile: profile)
  }
}
