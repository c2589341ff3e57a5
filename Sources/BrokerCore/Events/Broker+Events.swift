package import BrokerProtocol

/// Who is told what.
extension Broker {
  /// A subscription that has begun: its answer, and the events that come behind it.
  package struct Subscribed: Sendable {
    /// The answer.
    package let result: Subscribe.Result
    /// The first of what was missed since the sequence that the request named.
    package let missed: [SubscriptionHub.Delivery]
    /// Whether more was missed: see ``Broker/nextPage(of:_:_:)``.
    package let isReplaying: Bool
  }

  /// Takes the beginning of a subscription, on the broker's executor: it is no plain answer, since events come behind it.
  package typealias SubscriptionReply = @Sendable (Result<Subscribed, BrokerError>) -> Void

  /// A subscription that is wanted.
  private struct SubscriptionRequest: Sendable {
    let client: ClientID
    let wish: SubscriptionHub.Wish
    let reply: SubscriptionReply
  }

  /// Begins a subscription of a connection: its name, the state, and the first of the events that it has missed.
  ///
  /// Memory has the newest events; older ones are read from the store, page by page: see ``nextPage(of:_:_:)``.
  package func subscribe(
    _ params: Subscribe.Params, client: ClientID, _ reply: @escaping SubscriptionReply
  ) {
    do throws(BrokerError) {
      try requireRoom(client)
      let wish = SubscriptionHub.Wish(events: try Self.names(params.events), profiles: params.profiles.map(Set.init))
      for profile in params.profiles ?? [] where slot(named: profile) == nil {
        throw unknownProfile(profile)
      }
      let request = SubscriptionRequest(client: client, wish: wish, reply: reply)
      guard let since = params.since.map({ UInt64(clamping: $0) }) else { return begin(request) }
      replay(request, since: since, Read(through: since))
    } catch {
      reply(.failure(error))
    }
  }

  /// What was read for a subscription that has not begun.
  private struct Read: Sendable {
    /// The sequence up to which it was read.
    var through: UInt64
    /// The events.
    var events: [BrokerEvent] = []
    /// How many pages that were.
    var pages = 0
  }

  /// How many pages are read before the answer at most: another one is needed only where memory was forgotten meanwhile,
  /// or where events are large.
  private static let pagesBeforeAnswer = 3

  /// Begins with the events since a sequence, behind those that were read already.
  private func replay(_ request: SubscriptionRequest, since: UInt64, _ read: Read) {
    switch hub.source(since: read.through, request.wish) {
    case .nowhere: begin(request, isResync: true)
    case .store(let through)
    where read.events.count < SubscriptionHub.pageCount && read.pages < Self.pagesBeforeAnswer:
      self.read(
        PageReading(client: request.client, after: read.through, through: through) { broker, stored in
          // A store that was read just now may have dropped some before.
          guard let stored, broker.hub.mayReplay(since: since, request.wish) else {
            return broker.begin(request, isResync: true)
          }
          let all = Read(
            through: stored.through, events: read.events + stored.events, pages: read.pages + 1)
          broker.replay(request, since: since, all)
        })
    case .memory, .store: begin(request, after: read.through, behind: read.events)
    }
  }

  private func requireRoom(_ client: ClientID) throws(BrokerError) {
    try ledger.require(.subscriptions, hub.count(of: client) + 1)
  }

  /// Begins with what happens from now on, or with what came after a sequence, behind events that were read already.
  private func begin(
    _ request: SubscriptionRequest, after cursor: UInt64? = nil, behind first: [BrokerEvent] = [],
    isResync: Bool = false
  ) {
    do throws(BrokerError) {
      try requireRoom(request.client)
    } catch {
      return request.reply(.failure(error))
    }
    let id = hub.subscribe(request.client, request.wish, after: cursor)
    let states = sessions.filter { request.wish.profiles?.contains($0.profile) ?? true }
    let result = Subscribe.Result(
      subscriptionID: id, sequence: Int(clamping: hub.sequence), sessions: states, resync: isResync ? true : nil)
    var missed = first
    // What is in memory and has room comes with the answer: most have missed little.
    if cursor != nil, first.count < SubscriptionHub.pageCount, hub.source(since: cursor ?? 0).isMemory,
      case .events(let events, _) = hub.nextPage(of: request.client, id)
    {
      missed += events
    }
    let deliveries = deliveries(of: missed, request.wish, request.client, id)
    let isReplaying = hub.isReplaying(request.client, id)
    request.reply(.success(Subscribed(result: result, missed: deliveries, isReplaying: isReplaying)))
  }

  /// The events that a subscription wants, as they are sent to it.
  func deliveries(
    of events: [BrokerEvent], _ wish: SubscriptionHub.Wish, _ client: ClientID, _ id: String
  ) -> [SubscriptionHub.Delivery] {
    events.filter(wish.includes).map { event in
      SubscriptionHub.Delivery(client: client, subscriptionID: id, event: event, details: event.details())
    }
  }

  private static func names(_ wanted: [String]?) throws(BrokerError) -> Set<EventName>? {
    guard let wanted else { return nil }
    var names: Set<EventName> = []
    for (position, text) in wanted.enumerated() {
      guard let name = EventName(rawValue: text) else {
        let sentence = Spelling.sentence(onUnknown: "event", text, among: EventName.allCases.map(\.rawValue))
        throw misfit("/events/\(position)", sentence)
      }
      names.insert(name)
    }
    return names
  }

  /// Ends a subscription.
  package func unsubscribe(_ params: Unsubscribe.Params, client: ClientID) throws(BrokerError) {
    guard hub.unsubscribe(client, params.subscriptionID) else {
      throw Self.misfit("/subscriptionId", "The subscription is unknown on this connection.")
    }
  }

  /// Forgets everything that a connection had.
  package func leave(_ client: ClientID) {
    hub.leave(client)
    pages.forget(client)
    limiter.forget(client)
    forgetKeyAttempts(of: client)
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
    notify(.trouble(.storeTampered(profile)))
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
