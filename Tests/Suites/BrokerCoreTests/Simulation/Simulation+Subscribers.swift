import BrokerCore
import BrokerProtocol

/// A program that follows events, and comes back after a crash.
struct Subscriber {
  /// What it knows of a profile.
  enum State {
    /// There is a session.
    case alive
    /// There is none.
    case out
    /// Nothing: it would have to ask.
    case unknown
  }

  /// Its connection; a new one after each crash.
  var client: ClientID
  /// The profiles that it wants; nil means all.
  let profiles: [ProfileName]?
  /// The name of its subscription, while it has one.
  var subscription: String?
  /// The request that is under way, and what it asked for.
  var asked: (request: Int, since: UInt64?)?
  /// The last sequence that it has seen.
  var seen: UInt64?
  /// Whether what it was told at first was durable by then.
  var isFirm = true
  /// What it knows of each profile.
  var states: [ProfileName: State] = [:]

  /// Whether it wants an event.
  func wants(_ event: BrokerEvent) -> Bool {
    guard let profiles, let profile = event.profile else { return true }
    return profiles.contains(profile)
  }

  /// Takes an event into what it knows.
  mutating func take(_ event: BrokerEvent) {
    seen = event.sequence
    switch event.payload {
    case .login, .tokenRefreshed: event.profile.map { states[$0] = .alive }
    case .logout, .sessionExpired: event.profile.map { states[$0] = .out }
    case .vaultLocked, .vaultUnlocked, .configReloaded: states = [:]
    default: break
    }
  }
}

extension Subscriber.State {
  /// What a session's state means; a locked vault tells nothing.
  init(_ state: Session.State) {
    switch state {
    case .signedOut, .challengePending, .expired: self = .out
    case .authenticated, .refreshing, .offline: self = .alive
    case .locked: self = .unknown
    }
  }
}

/// What must hold for events.
extension Simulation {
  /// Takes in an event that has reached a subscription.
  func noteDelivered(_ delivery: SubscriptionHub.Delivery) throws(Violation) {
    let event = delivery.event
    guard let index = subscribers.firstIndex(where: { $0.client == delivery.client }),
      subscribers[index].subscription == delivery.subscriptionID
    else { throw Violation(.eventsComplete, "event \(event.sequence) comes to nobody's subscription") }
    if let seen = subscribers[index].seen, seen >= event.sequence {
      throw Violation(.sequencesGrow, "\(event.sequence) after \(seen)")
    }
    guard subscribers[index].wants(event) else {
      throw Violation(.eventsComplete, "event \(event.sequence) is not wanted")
    }
    subscribers[index].take(event)
    // The first subscriber follows everything, from the beginning of each life.
    if index == 0 { try noteTold(event) }
  }

  private func noteTold(_ event: BrokerEvent) throws(Violation) {
    counts.events += 1
    trace.note("event \(event.sequence) \(event.payload.name) \(event.profile?.description ?? "")")
    if let last = told.last, last.sequence >= event.sequence {
      throw Violation(.sequencesGrow, "\(event.sequence) after \(last.sequence)")
    }
    told.append(event)
    guard !event.payload.name.isTransient else { return }
    guard !durable.refused.contains(event.sequence) else {
      throw Violation(.durableFirst, "event \(event.sequence) is told although its record was refused")
    }
    guard durable.sequences.contains(event.sequence) || durable.unkept.contains(event.sequence) else {
      throw Violation(.durableFirst, "event \(event.sequence) is told before it is durable")
    }
    guard let profile = event.profile else { return }
    let isTrue =
      switch event.payload {
      case .login(let data): durable.tell(.login(profile)) || data.method == "elsewhere" && isKeptElsewhere(profile)
      case .logout: durable.tell(.signedOut(profile)) || isEndedElsewhere(profile)
      case .sessionExpired(let data): durable.tell(.ended(profile, data.reason)) || isEndedElsewhere(profile)
      case .tokenRefreshed(let data): durable.tell(.token(profile, String(data.tokenID.dropFirst(3))))
      case .userUpdated(let data): durable.users.contains { $0.id == data.userID && $0.name != nil }
      case .securityAlert(let data): data.kind != .refreshTokenReuse || isReplaySomebodyElses(profile)
      default: true
      }
    guard isTrue else { throw Violation(.durableFirst, "\(event.payload) is told before it is true") }
  }

  /// Whether another broker goes on with a session that was about to be ended here.
  private func isKeptElsewhere(_ profile: ProfileName) -> Bool {
    plan.isShared && profile == .default && durable.living(profile) != nil
  }

  /// Whether the broker may have seen for the first time that there is no session in what it shares.
  private func isEndedElsewhere(_ profile: ProfileName) -> Bool {
    plan.isShared && profile == .default && durable.living(profile) == nil
  }

  private func isReplaySomebodyElses(_ profile: ProfileName) -> Bool {
    server.families.contains { $0.profile == profile && !$0.isAlive && !$0.stolen.isEmpty }
  }

  /// Takes in that a subscription has begun.
  func noteSubscribed(
    _ request: Request, _ number: Int, _ result: Subscribe.Result, _ missed: [BrokerEvent]
  ) throws(Violation) {
    guard let index = request.subscriber, let asked = subscribers[index].asked, asked.request == number else {
      throw Violation(.answeredOnce, "request \(number) is no subscriber's")
    }
    subscribers[index].asked = nil
    subscribers[index].subscription = result.subscriptionID
    let sequence = UInt64(result.sequence)
    if result.resync == true {
      try checkResync(asked.since, sequence)
    } else if let since = asked.since {
      try check(missed, of: subscribers[index], since: since, through: sequence)
      for event in missed { subscribers[index].take(event) }
      // What has become of a session elsewhere meanwhile is told by the states beside them.
      if plan.isShared { subscribers[index].states[.default] = nil }
      try compare(index, with: result.sessions)
    }
    subscribers[index].seen = sequence
    subscribers[index].isFirm = isStill
    for session in result.sessions { subscribers[index].states[session.profile] = Subscriber.State(session.state) }
  }

  private func checkResync(_ since: UInt64?, _ sequence: UInt64) throws(Violation) {
    guard let since else { throw Violation(.eventsComplete, "a resync that nobody asked for") }
    guard !weather.hasDiskFailed, since <= sequence, session(profiles[0].name)?.state != .locked else { return }
    throw Violation(.eventsComplete, "a resync since \(since) at \(sequence) that nothing calls for")
  }

  /// What was missed must be all that was told or kept, in order.
  private func check(
    _ missed: [BrokerEvent], of subscriber: Subscriber, since: UInt64, through last: UInt64
  ) throws(Violation) {
    let sequences = missed.map(\.sequence)
    let range = since + 1..<max(last, since) + 1
    guard zip(sequences, sequences.dropFirst()).allSatisfy({ $0 < $1 }), sequences.allSatisfy(range.contains) else {
      throw Violation(.sequencesGrow, "\(sequences) since \(since) at \(last)")
    }
    let got = Set(sequences)
    let hidden = durable.surprising.union(durable.unkept)
    for event in told where range.contains(event.sequence) && !event.payload.name.isTransient {
      guard subscriber.wants(event), !got.contains(event.sequence), !hidden.contains(event.sequence) else { continue }
      throw Violation(.eventsComplete, "event \(event.sequence) is missing since \(since) at \(last)")
    }
    for event in missed where !durable.sequences.contains(event.sequence) {
      guard !durable.unkept.contains(event.sequence) else { continue }
      throw Violation(.durableFirst, "event \(event.sequence) is replayed and was never durable")
    }
  }

  /// Whether memory, store and events are at the same point, so that they can be compared.
  var isStill: Bool {
    let hasWork = life.broker.assumeIsolated { $0.hasWork }
    return !hasWork && life.storage.isIdle && wishes.reconfigurations == 0
  }

  private func compare(_ index: Int, with sessions: [Session]) throws(Violation) {
    guard isStill else { return }
    for session in sessions {
      let state = Subscriber.State(session.state)
      guard state != .unknown, let known = subscribers[index].states[session.profile], known != .unknown,
        known != state
      else { continue }
      throw Violation(.stateAgrees, "subscriber \(index): \(session.profile) is \(session.state), by events \(known)")
    }
  }

  /// Every subscriber must know what the broker says.
  func checkSubscribers() throws(Violation) {
    guard isStill else { return }
    let sessions = life.broker.assumeIsolated { $0.sessions(for: .broker) }
    for index in subscribers.indices where subscribers[index].subscription != nil {
      try compare(index, with: sessions)
      subscribers[index].isFirm = true
    }
  }
}
