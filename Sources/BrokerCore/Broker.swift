package import BrokerProtocol
import SecretMemory

/// The one actor: it owns every session, asks providers, saves, answers and publishes.
///
/// It lives on the executor of the loop that reads requests, so that a request which needs no I/O is answered in the
/// same turn. Its methods take a ``Caller`` instead of being `async`: what a request changes is changed in the order in
/// which requests arrive, before the next one is looked at.
package actor Broker {
  /// Gives a request its answer, exactly once, on the broker's executor.
  package typealias Respond = @Sendable (CallerID, Answer) -> Void
  /// Passes an event on to a subscription, on the broker's executor.
  package typealias Deliver = @Sendable (SubscriptionHub.Delivery) -> Void
  /// Tells whoever looks after the broker of something that is wrong.
  package typealias Report = @Sendable (Trouble) -> Void

  /// Something that whoever looks after the broker should know.
  package enum Trouble: Sendable, Equatable {
    /// What rests in the store is not what was written: the record of a profile, or something of no profile.
    case storeTampered(ProfileName?)
    /// The store cannot be written, and sequences may be given twice after a crash.
    case sequencesNotReserved
    /// The clock of a profile's provider is ahead of this machine's by so much, or no longer where it was.
    case clockSkewed(ProfileName, Duration?)
    /// A provider could not be told that tokens of a profile are not used any more: they end by themselves.
    case revocationGivenUp(ProfileName)
  }

  /// Where the actor runs.
  package nonisolated let executor: any SerialExecutor
  // The executor is kept alive by the property above for as long as the actor lives.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Where what its tasks do apart from it runs; nil for the global pool.
  nonisolated let background: (any TaskExecutor)?
  /// Where sessions rest.
  let store: any SessionStore
  /// Holds the keys of the store.
  let keeper: any StoreKeeper
  /// What time it is, and who wakes the broker.
  let clock: any BrokerClock
  /// Handles, and names of tokens.
  let entropy: any Entropy
  /// Answers that need no broker: whoever reads requests asks here first.
  package nonisolated let answers = AnswerCache()
  /// What clients may cost, and how often that was too much.
  package nonisolated let ledger = LimitLedger()
  /// Where answers go.
  var tell: Respond = { _, _ in }
  /// Where events go.
  var deliver: Deliver = { _ in }
  /// Where it is said that something is wrong.
  var report: Report = { _ in }

  /// The configured profiles.
  var slots: [ProfileSlot] = []
  /// Profiles that have gone from the configuration in the middle of a refresh, until what that brings is saved.
  var leaving: [ProfileSlot] = []
  /// How many slots there ever were; names the next one.
  var slotCount: UInt64
  /// Finds a profile by its name.
  var index = ProfileIndex()
  /// Logins that wait for a code or for their user.
  var pendingLogins = PendingLogins()
  /// Who listens for a browser, by the handle of the login.
  var listeners: [String: Task<Void, Never>] = [:]
  /// How many questions are under way whether a user is done: the answer may be a session, which comes only once.
  var polls = 0
  /// Whether the broker is about to end, and waits for no user any more.
  var isEnding = false
  /// Wakes the next of the pending logins.
  var pendingLoginTimer: TimerCancellation?
  /// Logins that are over, whose records are still to be removed from the store.
  var loginsToClose: Set<ProfileName> = []
  /// Who is told what.
  var hub = SubscriptionHub()
  /// Pages of kept events that are wanted.
  var pages = PageQueue()
  /// What waits to be durable.
  var commits = CommitQueue()
  /// What the queue has decided and is not done yet.
  var commitActions: [CommitQueue.Action] = []
  /// Whether somebody does it already.
  var isRunningCommitActions = false
  /// Who wants to know how a change ended.
  var settlements: [ChangeID: @Sendable (isolated Broker, StoreFailure?) -> Void] = [:]
  /// Everyone who waits for an answer.
  var callers = Callers()
  /// The last sequence that the store has promised never to give again.
  var reservedThrough: UInt64 = 0
  /// Whether the next block of sequences is being reserved.
  var isReserving = false
  /// Logouts that are not answered yet.
  var logouts: [UInt64: LogoutGathering] = [:]
  /// How many logouts there ever were; names the next one.
  var logoutCount: UInt64 = 0
  /// Sessions that are being looked at.
  var sessionChecks: [UInt64: SessionCheck] = [:]
  /// How many times that was begun; names the next one.
  var sessionCheckCount: UInt64 = 0
  /// Tokens that providers have still to be told of that they are not used any more.
  var revocations = RevocationQueue()
  /// Who wants to know how the first try of a revocation ended.
  var revocationAnswers: [PendingRevocation.ID: @Sendable (isolated Broker, LogoutOutcome.ServerRevoked) -> Void] = [:]
  /// Wakes the queue of revocations.
  var revocationTimer: (uptime: Duration, timer: TimerCancellation)?
  /// Who waits for which record to be durable.
  var saveWaiters: [SaveKey: [@Sendable (isolated Broker, StoreFailure?) -> Void]] = [:]
  /// How many slow things are under way.
  var work = 0
  /// How many times providers are just being looked at: nothing is lost if that ends early.
  var providerChecks = 0 {
    didSet { _ = ledger.add(.providerChecks, providerChecks - oldValue) }
  }
  /// Providers that are being tried, by the handle of the trial.
  var trials: [String: TrialSlot] = [:] {
    didSet { _ = ledger.add(.trials, trials.count - oldValue.count) }
  }
  /// Records that wait to be saved once more.
  var retries: [ProfileName: SaveRetry] = [:]
  /// Whether clients may have what the vault holds, and which key is tried next.
  var vault: VaultGate {
    didSet { _ = ledger.add(.keyAttempts, vault.waitingCount - oldValue.waitingCount) }
  }
  /// Whether everybody knows that the store as a whole cannot be trusted: a reader of events cannot make it a flood.
  var isSuspicionTold = false
  /// Called whenever nothing slow is under way any more.
  package var whenIdle: (@Sendable () -> Void)?
  /// Logins that their provider has not answered yet.
  var attempts: [LoginAttempt] = []
  /// How many logins there ever were; names the next one.
  var attemptCount: UInt64 = 0
  /// How often providers are called for clients.
  var limiter: CallLimiter
  /// The connection whose request is being taken up; nil for what the broker does by itself.
  var servedClient: ClientID?
  /// What was counted, but for answers from the cache.
  var counts = Counters()

  /// A broker over a store, which it takes for locked until ``start(with:answer:deliver:report:)``.
  ///
  /// `status` is what the keeper said last.
  package init(
    executor: any SerialExecutor, background: (any TaskExecutor)? = nil, profiles: [ProfileSettings],
    store: any SessionStore, keeper: any StoreKeeper, status: StoreStatus, clock: any BrokerClock,
    entropy: any Entropy
  ) {
    self.executor = executor
    self.background = background
    limiter = CallLimiter(ledger)
    self.store = store
    self.keeper = keeper
    self.clock = clock
    self.entropy = entropy
    let now = Moment(wall: clock.now, uptime: clock.uptime)
    vault = VaultGate(status, at: now)
    let slots = profiles.enumerated().map { number, settings in
      ProfileSlot(UInt64(number), settings, Self.machine(for: settings, entropy))
    }
    self.slots = slots
    slotCount = UInt64(slots.count)
    index = ProfileIndex(slots.map(\.name))
    answers.reset(index, count: slots.count, unnamed: Self.unnamed(slots))
    _ = revocations.handle(.configured(Self.bindings(of: slots)), at: now)
  }

  /// The profile that requests without a name mean.
  static func unnamed(_ slots: [ProfileSlot]) -> Int? {
    slots.count == 1 ? 0 : slots.firstIndex { $0.name == .default }
  }

  /// The machine of a profile of which nothing is known yet.
  static func machine(for settings: ProfileSettings, _ entropy: any Entropy) -> SessionMachine {
    SessionMachine(
      profile: settings.name, binding: settings.provider.binding, rules: settings.rules,
      tokenID: { token in entropy.tokenID(of: token) })
  }

  /// Begins to keep time; from now on `answer` gives callers their answers, `deliver` passes events on, and `report`
  /// tells what is wrong.
  ///
  /// `contents` is what ``SessionStore/load()`` gave; nil where the store is locked: the broker then waits for
  /// ``unlock(_:_:)``. No sequence is given before the store has promised never to give it again; where it cannot, events
  /// go on without that promise.
  package func start(
    with contents: StoreContents?, answer: @escaping Respond, deliver: @escaping Deliver,
    report: @escaping Report = { _ in }
  ) async {
    tell = answer
    self.deliver = deliver
    self.report = report
    clock.whenSet { [weak self] in self?.assumeIsolated { $0.clockWasSet() } }
    guard let contents else { return }
    openEvents(contents, reserved: await Self.reserveSequences(store, after: contents.lastSequence))
    _ = vault.handle(.started, at: now)
    restore(contents, to: slots)
    handle(.opened(contents.revocations))
  }

  /// Whether something is under way, or held, that must not be cut off by an idle end.
  ///
  /// A vault whose passphrase a person has given would stay locked, and the next process would not know of today's wrong
  /// codes.
  package var isBusy: Bool {
    hasWork || !pendingLogins.isEmpty || remembersGuesses || revocations.isWorthWaiting(at: now)
      || vault.needsPersonToOpen
  }

  /// Whether a provider or the store is being waited for.
  package var isWaiting: Bool {
    hasCalls || providerChecks > 0 || trials.values.contains { $0.asking != nil && $0.pause?.isOver ?? true }
  }

  /// Whether something is still to be done: a broker that ends now may lose what it waits for, or could not save yet.
  package var hasWork: Bool { hasCalls || !retries.isEmpty }

  /// Whether an answer is awaited that must not be lost.
  private var hasCalls: Bool { work > 0 || polls > 0 }

  /// What was counted since the start.
  package var counters: Counters {
    var counters = counts
    counters.tokens += answers.hits
    counters.pendingRevocations = revocations.count
    return counters
  }

  /// Both clocks.
  package nonisolated var now: Moment { Moment(wall: clock.now, uptime: clock.uptime) }

  /// The stay of a profile that something was begun for; nil where it has gone from the configuration meanwhile.
  func slot(named name: ProfileName, id: UInt64) -> ProfileSlot? {
    guard let slot = slot(named: name), slot.id == id else { return nil }
    return slot
  }

  /// Whoever holds the session of a profile: also one that has gone from the configuration in the middle of a refresh.
  func holder(of name: ProfileName) -> ProfileSlot? {
    slot(named: name) ?? leaving.first { $0.name == name }
  }

  /// The stay of a profile that a refresh was begun for, if it still holds the session.
  func holder(of name: ProfileName, id: UInt64) -> ProfileSlot? {
    guard let slot = holder(of: name), slot.id == id else { return nil }
    return slot
  }

  /// The profile of a name.
  func slot(named name: ProfileName) -> ProfileSlot? {
    index.find(name).map { slots[$0] }
  }

  /// The profile that a request means: the one it names, else the only one, else `default`.
  func slot(for name: ProfileName?) throws(BrokerError) -> ProfileSlot {
    if let name {
      guard let slot = slot(named: name) else {
        throw BrokerError(
          .unknownProfile, "There is no profile \(name) in the configuration; it has \(namesInWords).", profile: name)
      }
      return slot
    }
    guard let position = Self.unnamed(slots) else {
      throw BrokerError(
        .unknownProfile, "Several profiles are configured (\(namesInWords)), and the request names none.")
    }
    return slots[position]
  }

  /// The names to choose from; the first few of many.
  private var namesInWords: String {
    // As many as a person reads on one line.
    let most = 8
    let names = slots.prefix(most).map(\.name.description).joined(separator: ", ")
    return slots.count > most ? "\(names) and \(slots.count - most) more" : names
  }
}
