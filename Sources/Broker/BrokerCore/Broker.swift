import BrokerProtocol

/// The one actor: it owns every session, asks providers, saves, answers and publishes.
///
/// It lives on the executor of the loop that reads requests, so that a request which needs no I/O is answered in the
/// same turn. Its methods take a ``Caller`` instead of being `async`: what a request changes is changed in the order in
/// which requests arrive, before the next one is looked at.
package actor Broker {
  /// The executor that the actor runs on.
  package nonisolated let executor: any SerialExecutor
  // The executor is kept alive by the property above for as long as the actor lives.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// The store of sealed sessions, and the keeper of its keys.
  let store: any SessionStore & StoreKeeper
  /// The clocks of the machine, and the timers.
  let clock: any BrokerClock
  /// Handles, and names of tokens.
  let entropy: any Entropy
  /// The type that runs trials of providers.
  let trialType: any Trial.Type
  /// Answers that need no broker: the server looks here first.
  package nonisolated let answers = AnswerCache()
  /// How much memory those answers may have.
  var answerRoom = AnswerRoom()
  /// The limits for clients, and the counts of refusals by each.
  package nonisolated let ledger = LimitLedger()
  /// The sink for answers, events and reports.
  var notify: @Sendable (BrokerNotice) -> Void = { _ in }

  /// The configured profiles.
  var profiles: Profiles
  /// The shared knowledge about each provider.
  var providerViews = ProviderViews()
  /// Logins that their provider has not answered yet, and those that wait for a code or for their user.
  var logins = Logins()
  /// Second factors that are being enrolled.
  var enrolments = Enrolments()
  /// The changes on their way to the store, and the subscribers to events.
  var eventLog = EventLog()
  /// The changes on their way to shared stores.
  var sharedCommits = SharedCommits()
  /// The next readings of shared stores.
  var polls: [ObjectIdentifier: TimerCancellation] = [:]
  /// How many readings of each shared store are under way, but for those of one record that is in question.
  var readings: [ObjectIdentifier: Int] = [:]
  /// The callers that wait for an answer.
  var callers = Callers()
  /// The pending revocations, and the logouts that wait for them.
  var logouts = Logouts()
  /// The requests that clients have queued.
  var queued = QueuedRequests()
  /// Sessions that changes of the configuration have signed out.
  var parked = ParkedSessions()
  /// Refusals that several profiles of a provider get.
  var sharedRefusals = SharedRefusals()
  /// Records on their way to the store.
  var journal = RecordJournal()
  /// The calls and tasks that run beside the loop.
  var background: BackgroundWork
  /// Providers that are being tried, by the handle of the trial.
  var trials: [String: TrialSlot] = [:] {
    didSet { _ = ledger.add(.trials, trials.count - oldValue.count) }
  }
  /// The gate of the vault: whether clients may use its contents, and which key is tried next.
  var vault: VaultGate {
    didSet { _ = ledger.add(.keyAttempts, vault.waitingCount - oldValue.waitingCount) }
  }
  /// The questions whether clients may have tokens, and the answers that are remembered.
  var consents = Consents()
  /// Wakes the broker when the time of a question is over.
  var consentTimer: TimerCancellation?
  /// Describes a client to its owner: the server knows its processes.
  var describeClient: @Sendable (Principal) -> ConsentClient = { principal in
    ConsentClient(
      connection: principal.client,
      principal.permissions.client ?? AccessClient(socket: nil, user: principal.user ?? 0, isOwner: false))
  }
  /// When the vault is locked by itself.
  var autoLock = AutoLock()
  /// Wakes the broker when that may be.
  var idleTimer: TimerCancellation?
  /// The opinions of other machines about this machine's wall clock.
  var clockSources = ClockSources()
  /// How often providers are called for clients.
  var limiter: CallLimiter
  /// The entries of the audit on their way to the store.
  var audit = AuditTrail()
  /// Wakes the broker when some of them are due, and the time.
  var auditTimer: (time: Duration, timer: TimerCancellation)?
  /// The span of the audit that the last loan was counted in, as long as that is being made.
  var lentSpan: StandingLoan.Span?
  /// The work that waits until they are written.
  var auditWaits: [@Sendable (isolated Broker) -> Void] = []
  /// The counters, without the answers from the cache.
  var counts = Counters()

  /// A broker over a store, which counts as locked until ``start(with:notify:)``.
  ///
  /// `background` is the executor for work beside the loop, nil for the global pool; `status` is the last status of the
  /// store.
  package init(
    executor: any SerialExecutor, background: (any TaskExecutor)? = nil, profiles: [ProfileSettings],
    store: any SessionStore & StoreKeeper, status: StoreStatus, clock: any BrokerClock, entropy: any Entropy,
    trials: any Trial.Type
  ) {
    self.init(
      executor: executor, background: background, profiles: FirstProfiles(profiles, entropy: entropy, boot: clock.boot),
      store: store, status: status, clock: clock, entropy: entropy, trials: trials)
  }

  /// A broker of profiles that were made while the store was opened.
  package init(
    executor: any SerialExecutor, background: (any TaskExecutor)? = nil, profiles: sending FirstProfiles,
    store: any SessionStore & StoreKeeper, status: StoreStatus, clock: any BrokerClock, entropy: any Entropy,
    trials: any Trial.Type
  ) {
    self.executor = executor
    self.background = BackgroundWork(on: background)
    limiter = CallLimiter(ledger)
    self.store = store
    self.clock = clock
    self.entropy = entropy
    trialType = trials
    let now = clock.moment
    vault = VaultGate(status, at: now)
    self.profiles = profiles.profiles
    providerViews.assign(to: self.profiles.configured)
    answers.reset(self.profiles.index)
    _ = logouts.handle(.configured(profiles.bindings), at: now)
  }

  /// Starts the broker: from now on it keeps time, and calls `notify` on its executor with answers, events and reports.
  ///
  /// `contents` is the result of ``SessionStore/load()``; nil where the store is locked: the broker then waits for
  /// ``unlock(_:_:)``. No sequence is given before the store has promised never to give it again; where it cannot,
  /// events go on without that promise; the broker is busy until then.
  package func start(with contents: StoreContents?, notify: @escaping @Sendable (BrokerNotice) -> Void) async {
    self.notify = notify
    clock.whenSet { [weak self] in self?.assumeIsolated { $0.clockWasSet() } }
    guard let contents else { return }
    background.beginCall()
    let store = self.store
    let reserved = await apart { await Self.reserveSequences(store, after: contents.lastSequence) }
    background.endCall()
    openEvents(contents, reserved: reserved)
    _ = vault.handle(.started, at: now)
    noteOpened()
    restore(contents, to: slots)
    readSharedRecords()
    openQueues(contents)
    noteWorkEnded()
  }

  /// Whether work is under way, or state is held, that an idle timeout must not cut off.
  ///
  /// A vault whose passphrase a person has given would stay locked, and the next process would not know of today's
  /// wrong codes.
  package var isBusy: Bool {
    hasWork || logins.isAnyPending || enrolments.isAnyPending(at: now.wall) || remembersGuesses
      || logouts.queue.isWorthWaiting(at: now) || queued.queue.isWorthWaiting(at: now) || vault.needsPersonToOpen
  }

  /// Whether a provider or the store is being waited for.
  package var isWaiting: Bool {
    background.isUnderWay || ledger.used(.providerChecks) > 0 || trials.values.contains(where: \.isAsking)
  }

  /// Whether work is left: a broker that ends now may lose an awaited answer, or records that are not saved yet.
  package var hasWork: Bool { background.isUnderWay || awaitedOnce > 0 || !journal.isSaved }

  /// The number of awaited answers of providers that come only once: their tokens are lost with a broker that ends
  /// before.
  package var awaitedOnce: Int { background.awaitedOnce + logins.runs.spendingCount }

  /// The counters since the start.
  package var counters: Counters {
    var counters = counts
    counters.tokens += answers.hits
    counters.pendingRevocations = logouts.queue.count
    return counters
  }

  /// Both clocks.
  package nonisolated var now: Moment { clock.moment }

  /// Both clocks in whole milliseconds.
  package nonisolated var milliseconds: (wall: Int64, uptime: Int64) { clock.milliseconds }
}
