package import BrokerProtocol

/// Decides when tokens are revoked at their provider: at once, then again and again until it has answered or patience
/// ends.
///
/// One revocation at a time is under way for a profile; profiles do not wait for each other. Tokens are sent only while
/// their profile is configured with the very provider that issued them. Those of a profile that is gone, or has another
/// binding, are kept until patience ends, for the case that it comes back.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state; what comes too late changes
/// nothing.
package struct RevocationQueue: Sendable {
  /// An event that drives the queue.
  package enum Event: Sendable {
    /// The profiles are these now, each bound to a provider.
    case configured([ProfileName: ProviderBinding])
    /// The store is open, and holds these.
    case opened([PendingRevocation])
    /// The store is about to be closed: nothing is begun any more.
    case closed
    /// The store is closed: nothing may stay in memory.
    case dropped
    /// Tokens are to be revoked. `isBeingKept`: the next record that is saved makes that durable.
    case wanted(PendingRevocation, isBeingKept: Bool)
    /// A revocation is durable.
    case kept(PendingRevocation.ID)
    /// The provider has answered: there is nothing more to do.
    case ended(PendingRevocation.ID, LogoutOutcome.ServerRevoked)
    /// The provider could not be asked, or could not answer.
    case failed(PendingRevocation.ID, retryAfter: Duration?, jitter: Double)
    /// The provider was not asked: it might end a newer session with these tokens.
    case held(PendingRevocation.ID)
    /// Providers may be reached again.
    case networkReturned
    /// The provider that these are bound to does its work again.
    case providerReturned(ProviderBinding)
    /// A time came that ``nextWake`` has named.
    case woken
  }

  /// An action for the runner to carry out.
  package enum Action: Sendable, Equatable {
    /// Ask the provider once, and say how that ended.
    case send(PendingRevocation)
    /// Make durable that it is still to be done.
    case keep(PendingRevocation)
    /// Forget it in the store.
    case forget(PendingRevocation.ID)
    /// Tell the caller that waits for the first answer.
    case answer(PendingRevocation.ID, LogoutOutcome.ServerRevoked)
    /// Note that it was not done, and is not tried any more.
    case giveUp(PendingRevocation.ID)
  }

  /// How long a revocation is tried: for a provider that is away for a night, or a laptop that is closed until the next
  /// morning; after that most access tokens have expired.
  package static let patience = Duration.seconds(86_400)
  /// How long a revocation keeps a broker alive that was started on demand: most outages are over by then.
  ///
  /// Later it rests in the store until the next start.
  package static let vigil = Duration.seconds(900)
  /// How long a revocation that would end a newer session rests before it is tried again: that costs nothing, and the
  /// end of the newer session is a revocation of its own, whose success lets it be sent at once.
  static let holdPause = Duration.seconds(60)
  /// The most revocations of a profile; beyond it the oldest is given up: a client that logs in and out in a loop, at a
  /// provider that cannot revoke, does not fill the locked memory.
  package static let limitPerProfile = 16

  /// The stage of a revocation.
  private enum Stage: Equatable {
    /// It is tried once the time has come. Left when it is sent, given up, or dropped.
    case resting(until: Duration)
    /// The provider is being asked. Left by its answer.
    case underWay
  }

  private struct Entry {
    var revocation: PendingRevocation
    var stage: Stage
    /// When patience ends; counted in uptime, so that a clock that is set changes nothing.
    let endsAt: Duration
    /// Since when this process knows it.
    let knownSince: Duration
    var failures = 0
    var isKept: Bool
    /// Whether it waits for the end of a newer session.
    var isHeld = false
  }

  private var entries: [ProfileName: [Entry]] = [:]
  private var bindings: [ProfileName: ProviderBinding] = [:]
  private var isOpen = false
  private var lastNumber: UInt64 = 0
  /// No entry wants to be woken before this.
  private var wakeBound: Duration?

  /// A queue of nothing, over a store that is closed.
  package init() {}

  /// How many are still to be done.
  package var count: Int { entries.values.reduce(0) { $0 + $1.count } }

  /// Whether a profile has tokens that are still to be revoked.
  package func isPending(_ profile: ProfileName) -> Bool { entries[profile] != nil }

  /// The revocation of a profile that its provider has not answered yet; nil where none is under way.
  package func underWay(of profile: ProfileName) -> PendingRevocation? {
    entries[profile]?.first { $0.stage == .underWay }?.revocation
  }

  /// The revocations of a profile that are not durable yet.
  package func unkept(of profile: ProfileName) -> [PendingRevocation] {
    (entries[profile] ?? []).filter { !$0.isKept }.map(\.revocation)
  }

  /// Whether a broker should stay alive to go on with them.
  package func isWorthWaiting(at now: Moment) -> Bool {
    isOpen
      && entries.values.contains { own in
        own.contains { isSendable($0) && !$0.isHeld && now.uptime < $0.knownSince + Self.vigil }
      }
  }

  /// When the queue wants to be woken, or earlier; nil where nothing is to come.
  package var nextWake: Duration? { isOpen ? wakeBound : nil }

  /// A name for the next revocation of a profile.
  package mutating func nextID(of profile: ProfileName) -> PendingRevocation.ID {
    lastNumber += 1
    return PendingRevocation.ID(profile: profile, number: lastNumber)
  }

  /// Handles an event, and returns the actions in order.
  package mutating func handle(_ event: Event, at now: Moment) -> [Action] {
    switch event {
    case .configured(let bindings):
      self.bindings = bindings
      return lookAtAll(now)
    case .opened(let revocations): return open(revocations, now)
    case .closed: isOpen = false
    case .dropped:
      (isOpen, entries, wakeBound) = (false, [:], nil)
    case .wanted(let revocation, let isBeingKept): return take(revocation, isBeingKept, now)
    case .kept(let id): change(id) { $0.isKept = true }
    case .ended(let id, let outcome): return end(id, outcome, now)
    case .failed(let id, let retryAfter, let jitter): return fail(id, retryAfter, jitter, now)
    case .held(let id): return hold(id, now)
    case .networkReturned:
      for profile in entries.keys { hurry(profile, now) }
      return lookAtAll(now)
    case .providerReturned(let binding):
      for profile in entries.keys where bindings[profile] == binding { hurry(profile, now) }
      return lookAtAll(now)
    case .woken: return lookAtAll(now)
    }
    return []
  }

  // MARK: Coming and going

  private mutating func open(_ revocations: [PendingRevocation], _ now: Moment) -> [Action] {
    isOpen = true
    for revocation in revocations {
      lastNumber = max(lastNumber, revocation.id.number)
      guard !(entries[revocation.id.profile] ?? []).contains(where: { $0.revocation.id == revocation.id }) else {
        continue
      }
      insert(revocation, isKept: true, now)
    }
    return lookAtAll(now)
  }

  private mutating func take(_ revocation: PendingRevocation, _ isBeingKept: Bool, _ now: Moment) -> [Action] {
    let id = revocation.id
    lastNumber = max(lastNumber, id.number)
    guard !(entries[id.profile] ?? []).contains(where: { $0.revocation.id == id }) else { return [] }
    var actions: [Action] = []
    if let own = entries[id.profile], own.count >= Self.limitPerProfile,
      let oldest = own.first(where: { $0.stage != .underWay })
    {
      actions += giveUp(oldest.revocation.id)
    }
    insert(revocation, isKept: false, now)
    if !isBeingKept { actions.append(.keep(revocation)) }
    return actions + look(at: id.profile, now)
  }

  private mutating func insert(_ revocation: PendingRevocation, isKept: Bool, _ now: Moment) {
    let left = min(max(revocation.startedAt + Self.patience - now.wall, .zero), Self.patience)
    let entry = Entry(
      revocation: revocation, stage: .resting(until: now.uptime), endsAt: now.uptime + left, knownSince: now.uptime,
      isKept: isKept)
    entries[revocation.id.profile, default: []].append(entry)
    noteWake(entry.endsAt)
  }

  private mutating func remove(_ id: PendingRevocation.ID) -> Bool {
    guard let index = entries[id.profile]?.firstIndex(where: { $0.revocation.id == id }) else { return false }
    entries[id.profile]?.remove(at: index)
    if entries[id.profile]?.isEmpty == true { entries[id.profile] = nil }
    return true
  }

  private mutating func change(_ id: PendingRevocation.ID, _ body: (inout Entry) -> Void) {
    guard var own = entries[id.profile], let index = own.firstIndex(where: { $0.revocation.id == id }) else { return }
    body(&own[index])
    entries[id.profile] = own
  }

  private mutating func giveUp(_ id: PendingRevocation.ID) -> [Action] {
    remove(id) ? [.giveUp(id), .answer(id, .no), .forget(id)] : []
  }

  // MARK: Answers

  private mutating func end(
    _ id: PendingRevocation.ID, _ outcome: LogoutOutcome.ServerRevoked, _ now: Moment
  ) -> [Action] {
    guard remove(id) else { return [] }
    // The provider is there: whatever else is to be done need not rest any longer.
    hurry(id.profile, now)
    return [.answer(id, outcome), .forget(id)] + look(at: id.profile, now)
  }

  private mutating func fail(
    _ id: PendingRevocation.ID, _ retryAfter: Duration?, _ jitter: Double, _ now: Moment
  ) -> [Action] {
    postpone(id, now) { entry in
      entry.failures += 1
      return Backoff.delay(afterFailures: entry.failures, jitter: jitter, floor: retryAfter)
    }
  }

  private mutating func hold(_ id: PendingRevocation.ID, _ now: Moment) -> [Action] {
    postpone(id, now) { entry in
      entry.isHeld = true
      return Self.holdPause
    }
  }

  /// Lets a revocation that was under way rest, for as long as `pause` says, and makes it durable.
  private mutating func postpone(
    _ id: PendingRevocation.ID, _ now: Moment, _ pause: (inout Entry) -> Duration
  ) -> [Action] {
    var actions: [Action] = []
    change(id) { entry in
      guard entry.stage == .underWay else { return }
      let delay = pause(&entry)
      entry.stage = .resting(until: now.uptime + delay)
      actions = [.answer(id, .pending)]
      if !entry.isKept { actions.append(.keep(entry.revocation)) }
    }
    return actions + look(at: id.profile, now)
  }

  // MARK: Time

  /// Lets those of a profile that rest be tried now.
  private mutating func hurry(_ profile: ProfileName, _ now: Moment) {
    for index in (entries[profile] ?? []).indices where entries[profile]?[index].stage != .underWay {
      entries[profile]?[index].stage = .resting(until: now.uptime)
    }
  }

  private mutating func lookAtAll(_ now: Moment) -> [Action] {
    wakeBound = nil
    return entries.keys.sorted().flatMap { look(at: $0, now) }
  }

  /// Gives up revocations that have been tried long enough, and sends the next one of a profile that is due.
  private mutating func look(at profile: ProfileName, _ now: Moment) -> [Action] {
    guard isOpen else { return [] }
    let over = (entries[profile] ?? []).filter { $0.stage != .underWay && $0.endsAt <= now.uptime }
    var actions = over.flatMap { giveUp($0.revocation.id) }
    let own = entries[profile] ?? []
    if underWay(of: profile) == nil, let next = own.first(where: { isDue($0, now) }) {
      change(next.revocation.id) { ($0.stage, $0.isHeld) = (.underWay, false) }
      actions.append(.send(next.revocation))
    }
    for entry in entries[profile] ?? [] { noteWake(of: entry) }
    return actions
  }

  private func isSendable(_ entry: Entry) -> Bool { bindings[entry.revocation.id.profile] == entry.revocation.binding }

  private func isDue(_ entry: Entry, _ now: Moment) -> Bool {
    guard case .resting(let until) = entry.stage, until <= now.uptime else { return false }
    return isSendable(entry)
  }

  private mutating func noteWake(of entry: Entry) {
    guard case .resting(let until) = entry.stage else { return }
    // One that is due already waits for another of its profile, whose answer comes by itself.
    let isWaiting = underWay(of: entry.revocation.id.profile) != nil
    noteWake(isSendable(entry) && !isWaiting ? min(until, entry.endsAt) : entry.endsAt)
  }

  private mutating func noteWake(_ time: Duration) { wakeBound = min(wakeBound ?? time, time) }
}
