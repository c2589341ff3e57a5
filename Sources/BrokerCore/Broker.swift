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
  var profiles: Profiles
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
  /// What waits to be durable, and who is told of it.
  var eventLog = EventLog()
  /// Everyone who waits for an answer.
  var callers = Callers()
  /// What providers are still to be told, and the logouts that wait for it.
  var logouts = Logouts()
  /// Sessions that are being examined.
  var sessionChecks = SessionChecks()
  /// Records on their way to the store.
  var journal = RecordJournal()
  /// How much is under way off the loop.
  var work = WorkCount() {
    didSet { _ = ledger.add(.providerChecks, work.providerChecks - oldValue.providerChecks) }
  }
  /// Providers that are being tried, by the handle of the trial.
  var trials: [String: TrialSlot] = [:] {
    didSet { _ = ledger.add(.trials, trials.count - oldValue.count) }
  }
  /// Whether clients may have what the vault holds, and which key is tried next.
  var vault: VaultGate {
    didSet { _ = ledger.add(.keyAttempts, vault.waitingCount - oldValue.waitingCount) }
  }
  /// Called whenever nothing slow is under way any more.
  package var whenIdle: (@Sendable () -> Void)?
  /// Logins that their provider has not answered yet.
  var attempts = LoginAttempts()
  /// How often providers are called for clients.
  var limiter: CallLimiter
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
    self.profiles = Profiles(profiles) { Self.machine(for: $0, entropy) }
    answers.reset(self.profiles.index, count: profiles.count, unnamed: self.profiles.unnamed)
    _ = logouts.handle(.configured(Self.bindings(of: self.profiles.configured)), at: now)
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
    hasWork || !pendingLogins.isEmpty || remembersGuesses || logouts.queue.isWorthWaiting(at: now)
      || vault.needsPersonToOpen
  }

  /// Whether a provider or the store is being waited for.
  package var isWaiting: Bool {
    hasCalls || work.providerChecks > 0 || trials.values.contains { $0.asking != nil && $0.pause?.isOver ?? true }
  }

  /// Whether something is still to be done: a broker that ends now may lose what it waits for, or could not save yet.
  package var hasWork: Bool { hasCalls || !journal.isSaved }

  /// Whether an answer is awaited that must not be lost.
  private var hasCalls: Bool { work.calls > 0 || polls > 0 }

  /// What was counted since the start.
  package var counters: Counters {
    var counters = counts
    counters.tokens += answers.hits
    counters.pendingRevocations = logouts.queue.count
    return counters
  }

  /// Both clocks.
  package nonisolated var now: Moment { Moment(wall: clock.now, uptime: clock.uptime) }
}
