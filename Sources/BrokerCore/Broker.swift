package import BrokerProtocol
import SecretMemory

/// The one actor: it owns every session, asks providers, saves, answers and publishes.
///
/// It lives on the executor of the loop that reads requests, so that a request which needs no I/O is answered in the
/// same turn. Its methods take a reply closure instead of being `async`: what a request changes is changed in the
/// order in which requests arrive, before the next one is looked at.
package actor Broker {
  /// Gives a request its answer, exactly once, on the broker's executor.
  package typealias Reply<Value> = @Sendable (Result<Value, BrokerError>) -> Void
  /// Passes an event on to a subscription, on the broker's executor.
  package typealias Deliver = @Sendable (SubscriptionHub.Delivery) -> Void

  /// Where the actor runs.
  package nonisolated let executor: any SerialExecutor
  // The executor is kept alive by the property above for as long as the actor lives.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Where sessions rest.
  let store: any SessionStore
  /// What time it is, and who wakes the broker.
  let clock: any BrokerClock
  /// Handles, and names of tokens.
  let entropy: any Entropy
  /// Answers that need no broker: whoever reads requests asks here first.
  package nonisolated let answers = AnswerCache()
  /// Where events go.
  var deliver: Deliver = { _ in }

  /// The configured profiles.
  var slots: [ProfileSlot] = []
  /// How many slots there ever were; names the next one.
  var slotCount: UInt64
  /// Finds a profile by its name.
  var index = ProfileIndex()
  /// Logins that wait for a code.
  var pendingLogins = PendingLogins()
  /// Ends the next of them that nobody answers.
  var pendingLoginTimer: TimerCancellation?
  /// Who is told what.
  var hub: SubscriptionHub
  /// Callers who wait for a token.
  var waiters: [WaiterID: Waiter] = [:]
  /// How many callers there ever were; names the next one.
  var waiterCount: UInt64 = 0
  /// The last sequence that the store has promised never to give again.
  var reservedThrough: UInt64
  /// Whether the next block of sequences is being reserved.
  var isReserving = false
  /// Logouts that are not answered yet.
  var logouts: [UInt64: LogoutGathering] = [:]
  /// How many logouts there ever were; names the next one.
  var logoutCount: UInt64 = 0
  /// Who waits for which record to be durable.
  var saveWaiters: [SaveKey: [@Sendable (StoreFailure?) -> Void]] = [:]
  /// How many slow things are under way.
  var work = 0
  /// How many records wait to be saved once more.
  var unsaved = 0
  /// Called whenever nothing slow is under way any more.
  package var whenIdle: (@Sendable () -> Void)?
  /// Logins that their provider has not answered yet.
  var attempts: [LoginAttempt] = []
  /// How many logins there ever were; names the next one.
  var attemptCount: UInt64 = 0
  /// What was counted, but for answers from the cache.
  var counts = Counters()

  /// A broker over what its store holds.
  ///
  /// `contents` is what ``SessionStore/load()`` gave; events follow its last sequence.
  package init(
    executor: any SerialExecutor, profiles: [ProfileSettings], store: any SessionStore, contents: StoreContents,
    clock: any BrokerClock, entropy: any Entropy
  ) {
    self.executor = executor
    self.store = store
    self.clock = clock
    self.entropy = entropy
    hub = SubscriptionHub(after: contents.lastSequence)
    reservedThrough = contents.lastSequence
    let slots = profiles.enumerated().map { number, settings in
      ProfileSlot(UInt64(number), settings, Self.machine(for: settings, entropy))
    }
    self.slots = slots
    slotCount = UInt64(slots.count)
    index = ProfileIndex(slots.map(\.name))
    answers.reset(index, count: slots.count, unnamed: Self.unnamed(slots))
  }

  /// The profile that requests without a name mean.
  static func unnamed(_ slots: [ProfileSlot]) -> Int? {
    slots.count == 1 ? 0 : slots.firstIndex { $0.name == .default }
  }

  /// The machine of a profile of which nothing is known yet.
  static func machine(for settings: ProfileSettings, _ entropy: any Entropy) -> SessionMachine {
    SessionMachine(
      profile: settings.name, binding: settings.provider.binding, policy: settings.policy,
      tokenID: { token in entropy.tokenID(of: token) })
  }

  /// Takes up what the store held, and begins to keep time; `deliver` passes events on from now on.
  ///
  /// No sequence is given before the store has promised never to give it again; where it cannot, events go on without
  /// that promise, and the returned value is false.
  @discardableResult
  package func start(with contents: StoreContents, deliver: @escaping Deliver) async -> Bool {
    self.deliver = deliver
    let isReserved = await reserveSequences()
    for record in contents.records {
      guard let slot = slot(named: record.profile) else { continue }
      handle(.restored(record), on: slot)
    }
    for profile in contents.tampered where slot(named: profile) != nil {
      publish(.securityAlert(SecurityAlertEvent(kind: .storeTampering)), profile: profile)
    }
    return isReserved
  }

  /// Whether something is under way that must not be cut off by an idle end.
  package var isBusy: Bool { hasWork || !pendingLogins.isEmpty }

  /// Whether a provider or the store is being waited for.
  package var isWaiting: Bool { work > 0 }

  /// Whether something is still to be done: a broker that ends now may lose what it waits for, or could not save yet.
  package var hasWork: Bool { isWaiting || unsaved > 0 }

  /// What was counted since the start.
  package var counters: Counters {
    var counters = counts
    counters.tokens += answers.hits
    return counters
  }

  /// Both clocks.
  var now: Moment { Moment(wall: clock.now, uptime: clock.uptime) }

  /// The stay of a profile that something was begun for; nil where it has gone from the configuration meanwhile.
  func slot(named name: ProfileName, id: UInt64) -> ProfileSlot? {
    guard let slot = slot(named: name), slot.id == id else { return nil }
    return slot
  }

  /// The profile of a name.
  func slot(named name: ProfileName) -> ProfileSlot? {
    index.find(name).map { slots[$0] }
  }

  /// The profile that a request means: the one it names, else the only one, else `default`.
  func slot(for name: ProfileName?) throws(BrokerError) -> ProfileSlot {
    if let name {
      guard let slot = slot(named: name) else { throw BrokerError(.unknownProfile, profile: name) }
      return slot
    }
    guard let position = Self.unnamed(slots) else {
      throw BrokerError(.unknownProfile, "Several profiles are configured; name one.")
    }
    return slots[position]
  }
}
