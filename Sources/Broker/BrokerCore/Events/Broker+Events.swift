package import BrokerProtocol

/// A subscription that has not begun, and the kept events that were read for it.
struct SubscriptionStart: Sendable {
  /// The caller.
  let caller: Caller<Subscribe.Result>
  /// Its connection.
  let client: ClientID
  /// The events and profiles that it asked for.
  let wish: SubscriptionHub.Wish
  /// The last event that the subscriber knows; nil where it does not ask for missed events.
  let since: UInt64?
  /// How many pages were read.
  private(set) var pages = 0
  /// The events of these pages.
  private(set) var events: [BrokerEvent] = []

  /// A subscription for which nothing was read.
  init(
    _ caller: Caller<Subscribe.Result>, _ client: ClientID, _ wish: SubscriptionHub.Wish, since: UInt64?
  ) {
    self.caller = caller
    self.client = client
    self.wish = wish
    self.since = since
  }

  /// Adds a page that was read.
  mutating func add(_ page: StoredEvents) {
    events += page.events
    pages += 1
  }
}

/// A subscription that has begun: its answer, and the events that come behind it.
package struct BegunSubscription: Sendable {
  /// The caller.
  package let caller: CallerID
  /// Its connection.
  package let client: ClientID
  /// The answer.
  package let result: Subscribe.Result
  /// The first of the missed events since the sequence that the request named.
  package let missed: [SubscriptionHub.Delivery]
  /// Whether more was missed: see ``Broker/nextPage(of:_:)``.
  package let isReplaying: Bool
}

/// Subscriptions and the delivery of events.
extension Broker {
  /// Begins a subscription of a connection: its name, the state, and the first of the events that it has missed.
  ///
  /// Memory has the newest events; older ones are read from the store, page by page: see ``nextPage(of:_:)``. The answer is
  /// a notice of its own, since events come behind it. A principal to which profiles are hidden is told of nothing earlier:
  /// how much there was of that is theirs, too.
  package func subscribe(_ params: Subscribe.Params, client: ClientID, _ caller: Caller<Subscribe.Result>) {
    do throws(BrokerError) {
      try requireRoom(client)
      let wish = SubscriptionHub.Wish(
        events: try Self.names(params.events), profiles: params.profiles.map(Set.init),
        visible: caller.principal.audible, hearsConsents: caller.principal.isAdministrative)
      let view = view(of: caller.principal)
      for profile in params.profiles ?? [] { _ = try view.slot(for: profile) }
      let since = params.since.map { UInt64(clamping: $0) }
      let start = SubscriptionStart(caller, client, wish, since: since)
      guard let since, wish.visible.isAll else { return begin(start, isResync: since != nil) }
      replay(start, since: since)
    } catch {
      notify(.answer(.failure(error), to: caller.id))
    }
  }

  /// The most pages that are read before the answer: another one is needed only where memory was trimmed meanwhile, or
  /// where events are large.
  private static let pagesBeforeAnswer = 3

  /// Begins a replay of the events since a sequence, behind those that were read already.
  private func replay(_ start: SubscriptionStart, since sequence: UInt64) {
    switch eventLog.hub.source(since: sequence, start.wish) {
    case .nowhere: begin(start, isResync: true)
    case .store(let through)
    where start.events.count < SubscriptionHub.pageCount && start.pages < Self.pagesBeforeAnswer:
      read(PageReading(client: start.client, after: sequence, through: through, purpose: .beginning(start)))
    case .memory, .store: begin(start, after: sequence)
    }
  }

  /// Continues with a page that was read for a subscription which has not begun; nil where the store could not give it.
  func proceed(_ start: SubscriptionStart, with page: StoredEvents?) {
    // A store that was read just now may have dropped some before.
    guard let page, let since = start.since, eventLog.hub.mayReplay(since: since, start.wish) else {
      return begin(start, isResync: true)
    }
    var start = start
    start.add(page)
    replay(start, since: page.through)
  }

  /// Shows a connection the events of a principal from now on.
  func showEvents(of principal: Principal, to client: ClientID) {
    eventLog.hub.show(principal.audible, consents: principal.isAdministrative, to: client)
  }

  private func requireRoom(_ client: ClientID) throws(BrokerError) {
    let own = eventLog.hub.count(of: client)
    try ledger.require(.subscriptions, own + 1)
    // A connection's first one is accepted always: those that have many keep no other out.
    if own > 0 { try ledger.require(.allSubscriptions, eventLog.hub.count + 1) }
  }

  /// Begins a subscription with new events, or with those after a sequence, behind the ones that were read already.
  private func begin(_ start: SubscriptionStart, after cursor: UInt64? = nil, isResync: Bool = false) {
    do throws(BrokerError) {
      try requireRoom(start.client)
    } catch {
      return notify(.answer(.failure(error), to: start.caller.id))
    }
    let id = eventLog.hub.subscribe(start.client, start.wish, after: cursor)
    _ = ledger.add(.allSubscriptions, 1)
    let principal = start.caller.principal
    let states = sessions(for: principal).filter { start.wish.profiles?.contains($0.profile) ?? true }
    let result = Subscribe.Result(
      subscriptionID: id, sequence: Int(clamping: sequence(for: principal)), sessions: states,
      resync: isResync ? true : nil)
    var missed = cursor == nil ? [] : start.events
    // What is in memory and has room comes with the answer: most have missed little.
    if cursor != nil, missed.count < SubscriptionHub.pageCount, eventLog.hub.source(since: cursor ?? 0).isMemory,
      case .events(let events, _) = eventLog.hub.nextPage(of: start.client, id)
    {
      missed += events
    }
    let deliveries = deliveries(of: missed, start.wish, start.client, id)
    let isReplaying = eventLog.hub.isReplaying(start.client, id)
    notify(
      .subscribed(
        BegunSubscription(
          caller: start.caller.id, client: start.client, result: result, missed: deliveries, isReplaying: isReplaying)))
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
        throw BrokerError(.invalidParams, sentence, pointer: "/events/\(position)")
      }
      names.insert(name)
    }
    return names
  }

  /// Ends a subscription.
  package func unsubscribe(_ params: Unsubscribe.Params, client: ClientID) throws(BrokerError) {
    guard eventLog.hub.unsubscribe(client, params.subscriptionID) else {
      throw BrokerError(.invalidParams, "The subscription is unknown on this connection.", pointer: "/subscriptionId")
    }
    _ = ledger.add(.allSubscriptions, -1)
  }

  /// Forgets everything that a connection had.
  package func leave(_ client: ClientID) {
    _ = ledger.add(.allSubscriptions, -eventLog.hub.count(of: client))
    eventLog.hub.leave(client)
    eventLog.pages.forget(client)
    answers.forgetConsents(of: client)
    limiter.forget(client)
    forgetKeyAttempts(of: client)
  }

  /// The sequence of the last published event; 0 for a principal to which profiles are hidden, each of whose
  /// subscriptions counts for itself.
  package func sequence(for principal: Principal) -> UInt64 { principal.shown.isAll ? eventLog.hub.sequence : 0 }

  /// How many subscriptions there are, as far as a principal is shown.
  package func subscriptionCount(for principal: Principal) -> Int {
    principal.shown.isAll ? eventLog.hub.count : principal.client.map { eventLog.hub.count(of: $0) } ?? 0
  }

  /// Sends all subscribers the end of the broker; changes that wait for the store are not begun any more.
  package func announceShutdown() {
    closeQueues()
    publish(.shuttingDown, profile: nil)
  }

  /// Sends all subscribers that a record in the store was modified; for a record of no profile, once.
  func raiseTampering(of profile: ProfileName?) {
    if profile == nil {
      guard eventLog.noteSuspicion() else { return }
    }
    publish(.securityAlert(SecurityAlertEvent(kind: .storeTampering)), profile: profile)
    notify(.problem(.storeTampered(profile)))
  }

  /// Tells of a failure that may be an attack.
  func noteFailure(_ failure: ProviderFailure, of slot: ProfileSlot) {
    guard failure.kind == .tlsPinMismatch else { return }
    publishRarely(.securityAlert(SecurityAlertEvent(kind: .pinMismatch)), of: slot)
  }

  /// Publishes an event at most once a profile and minute, so that repetitions by clients or providers are no flood.
  ///
  /// - Returns: whether it was published.
  @discardableResult
  func publishRarely(_ payload: EventPayload, of slot: ProfileSlot) -> Bool {
    let uptime = now.uptime
    if let last = slot.lastRareEvent[payload.name], uptime - last < .seconds(60) { return false }
    slot.lastRareEvent[payload.name] = uptime
    publish(payload, profile: slot.name)
    return true
  }
}
