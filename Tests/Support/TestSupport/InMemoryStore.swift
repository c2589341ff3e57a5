package import BrokerCore
package import BrokerProtocol
package import SecretMemory
import Synchronization

/// A session store without a disk, and its own keeper: it fails, waits and is locked when it is told to.
package final class InMemoryStore: SessionStore {
  private struct State {
    var records: [ProfileName: SessionRecord] = [:]
    var lastSequence: UInt64 = 0
    var saveCount = 0
    var failure: StoreFailure?
    var events: [BrokerEvent] = []
    var eventsCompleteAfter: UInt64 = 0
    var intents: [ProfileName: RefreshIntent] = [:]
    var logins: [ProfileName: PendingLoginRecord] = [:]
    var revocations: [PendingRevocation.ID: PendingRevocation] = [:]
    var parked: [ParkedSession.ID: ParkedSession] = [:]
    var requests: [QueuedRequest.ID: QueuedRequest] = [:]
    var requestContents: [QueuedRequest.ID: QueuedContents] = [:]
    var commits: [[StoreStep]] = []
    var tampered: Set<ProfileName> = []
    var isSuspect = false
    var mayBeOlder = false
    var eventsFailure: StoreFailure?
    var readCount = 0
    var isHolding = false
    var held: [CheckedContinuation<Void, Never>] = []
    var isLocked = false
    var passphrase: Secret?
    var keyFailure: KeyFailure?
    var tries = 0
    var findings: [VaultFinding] = []
    var passphraseFailures = PassphraseFailures.none

    var sortedRevocations: [PendingRevocation] {
      revocations.values.sorted { ($0.id.profile, $0.id.number) < ($1.id.profile, $1.id.number) }
    }

    mutating func take(_ step: StoreStep) {
      switch step {
      case .record(let record):
        records[record.profile] = record
        intents[record.profile] = nil
        tampered.remove(record.profile)
        saveCount += 1
      case .openIntent(let intent): intents[intent.profile] = intent
      case .closeIntent(let profile): intents[profile] = nil
      case .openLogin(let record): logins[record.login.profile] = record.withoutBeginners
      case .closeLogin(let profile): logins[profile] = nil
      case .openRevocation(let revocation): revocations[revocation.id] = revocation
      case .closeRevocation(let id): revocations[id] = nil
      case .keepRequest(let request, let contents):
        requests[request.id] = request
        if let contents { requestContents[request.id] = contents }
      case .forgetRequest(let id): (requests[id], requestContents[id]) = (nil, nil)
      case .park(let session): parked[session.id] = session
      case .unpark(let id): parked[id] = nil
      case .event(let event):
        events.append(event.withoutBeginners)
        lastSequence = max(lastSequence, event.sequence)
      case .eventsIncomplete(let through): eventsCompleteAfter = max(eventsCompleteAfter, through)
      }
    }
  }

  private let state = Mutex(State())
  /// The audit.
  let shelf = Mutex(AuditShelf())

  /// An empty store that works and is open.
  package init() {}

  /// What each write throws instead of happening; nil for a store that works.
  package var failure: StoreFailure? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  /// What the reading of events throws instead of happening.
  package var eventsFailure: StoreFailure? {
    get { state.withLock { $0.eventsFailure } }
    set { state.withLock { $0.eventsFailure = newValue } }
  }

  /// How many readings of events were begun.
  package var readCount: Int { state.withLock { $0.readCount } }

  /// How many records were written.
  package var saveCount: Int { state.withLock { $0.saveCount } }

  /// Every record that was written last, by the names of the profiles.
  package var records: [SessionRecord] {
    state.withLock { $0.records.values.sorted { $0.profile < $1.profile } }
  }

  /// What was committed, transaction by transaction.
  package var commits: [[StoreStep]] { state.withLock { $0.commits } }

  /// The kept events.
  package var events: [BrokerEvent] { state.withLock { $0.events } }

  /// Keeps events as if an earlier broker had told them.
  package func add(_ events: [BrokerEvent]) {
    state.withLock { state in
      for event in events { state.take(.event(event)) }
    }
  }

  /// Forgets the kept events up to a sequence, as retention does.
  package func dropEvents(through sequence: UInt64) {
    state.withLock { state in
      state.events.removeAll { $0.sequence <= sequence }
      state.eventsCompleteAfter = max(state.eventsCompleteAfter, sequence)
    }
  }

  /// The open intents.
  package var intents: [RefreshIntent] { state.withLock { Array($0.intents.values) } }

  /// The logins that wait for their code.
  package var pendingLogins: [PendingLoginRecord] { state.withLock { Array($0.logins.values) } }

  /// The tokens that are still to be revoked, by their profiles and numbers.
  package var revocations: [PendingRevocation] { state.withLock { $0.sortedRevocations } }

  /// The sessions that changes of the configuration have signed out.
  package var parked: [ParkedSession] { state.withLock { Array($0.parked.values) } }

  /// The queued requests, in their order.
  package var requests: [QueuedRequest] {
    state.withLock { $0.requests.values.sorted { $0.id.number < $1.id.number } }
  }

  /// The sequence after which every kept event can be replayed.
  package var eventsCompleteAfter: UInt64 { state.withLock { $0.eventsCompleteAfter } }

  /// Lets a record be found tampered with by the next ``load()``.
  package func tamper(_ profile: ProfileName) {
    state.withLock { state in
      state.records[profile] = nil
      state.tampered.insert(profile)
    }
  }

  /// Lets the next ``load()`` say that the store as a whole cannot be trusted.
  package func makeSuspect() { state.withLock { $0.isSuspect = true } }

  /// Lets the whole store be found to be an older copy by the next ``load()``.
  package func makeOlder(_ isOlder: Bool = true) { state.withLock { $0.mayBeOlder = isOlder } }

  /// Makes commits wait until ``release()``.
  package func hold() { state.withLock { $0.isHolding = true } }

  /// Whether commits wait.
  package var isHolding: Bool { state.withLock { $0.isHolding } }

  /// Lets commits go on.
  package func release() {
    let held = state.withLock { state in
      state.isHolding = false
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  func pass() async {
    guard isHolding else { return }
    await withCheckedContinuation { continuation in
      let mayPass = state.withLock { state in
        guard state.isHolding else { return true }
        state.held.append(continuation)
        return false
      }
      if mayPass { continuation.resume() }
    }
  }

  /// Everything that was written, by the names of the profiles.
  package func load() async throws(StoreFailure) -> StoreContents {
    try state.withLock { state throws(StoreFailure) in
      guard !state.isLocked else { throw .locked }
      var contents = StoreContents(
        records: state.records.values.sorted { $0.profile < $1.profile }, lastSequence: state.lastSequence)
      contents.tampered = state.tampered.sorted()
      contents.isSuspect = state.isSuspect
      contents.mayBeOlder = state.mayBeOlder
      contents.intents = Array(state.intents.values)
      contents.pendingLogins = Array(state.logins.values)
      contents.revocations = state.sortedRevocations
      contents.parked = Array(state.parked.values)
      contents.requests = state.requests.values.sorted { $0.id.number < $1.id.number }
      contents.completeness = EventCompleteness(all: state.eventsCompleteAfter)
      return contents
    }
  }

  /// Does all steps, unless a record of them is not newer than what is there.
  package func commit(_ steps: [StoreStep]) async throws(StoreFailure) {
    await pass()
    try state.withLock { state throws(StoreFailure) in
      guard !state.isLocked else { throw .locked }
      if let failure = state.failure { throw failure }
      for case .record(let record) in steps {
        if let old = state.records[record.profile], old.generation >= record.generation { throw .superseded }
      }
      for step in steps { state.take(step) }
      state.commits.append(steps)
    }
  }

  /// The kept events between two sequences.
  package func events(
    after sequence: UInt64, through last: UInt64, limit: Int
  ) async throws(StoreFailure) -> StoredEvents {
    state.withLock { $0.readCount += 1 }
    await pass()
    return try state.withLock { state throws(StoreFailure) in
      guard !state.isLocked else { throw .locked }
      if let failure = state.eventsFailure { throw failure }
      let events = state.events.filter { $0.sequence > sequence && $0.sequence <= last }
      let page = Array(events.prefix(limit))
      let through = page.count < events.count ? page.last?.sequence ?? last : last
      return StoredEvents(
        events: page, through: through, completeness: EventCompleteness(all: state.eventsCompleteAfter))
    }
  }

  /// What is sent with a queued request, or what came.
  package func contents(of request: QueuedRequest.ID) async throws(StoreFailure) -> QueuedContents? {
    try state.withLock { state throws(StoreFailure) in
      guard !state.isLocked else { throw .locked }
      return state.requestContents[request]
    }
  }

  /// Keeps a sequence, if it is later than what is there.
  package func reserveSequences(through sequence: UInt64) async throws(StoreFailure) {
    try state.withLock { state throws(StoreFailure) in
      if let failure = state.failure { throw failure }
      state.lastSequence = max(state.lastSequence, sequence)
    }
  }
}

extension InMemoryStore: StoreKeeper {
  /// The passphrase that opens it; nil for one that opens without.
  package var passphrase: Secret? {
    get { state.withLock { $0.passphrase } }
    set { state.withLock { $0.passphrase = newValue } }
  }

  /// What each unlock and rekey throws instead of happening.
  package var keyFailure: KeyFailure? {
    get { state.withLock { $0.keyFailure } }
    set { state.withLock { $0.keyFailure = newValue } }
  }

  /// What a check finds.
  package var findings: [VaultFinding] {
    get { state.withLock { $0.findings } }
    set { state.withLock { $0.findings = newValue } }
  }

  /// How often a key was tried.
  package var tries: Int { state.withLock { $0.tries } }

  /// Whether the keys are gone.
  package var isLocked: Bool { state.withLock { $0.isLocked } }

  /// Where the store stands, at once.
  package var statusNow: StoreStatus {
    state.withLock { state in
      StoreStatus(
        isLocked: state.isLocked, isInitialized: true, keySource: state.passphrase == nil ? .file : .passphrase,
        schemaVersion: 1, noticesRollback: false, mayBeOlder: state.mayBeOlder,
        passphraseFailures: state.passphraseFailures)
    }
  }

  package var status: StoreStatus { get async { statusNow } }

  package func unlock(_ passphrase: Secret?) async throws(KeyFailure) {
    try state.withLock { state throws(KeyFailure) in
      state.tries += 1
      if let failure = state.keyFailure { throw failure }
      try Self.check(passphrase, state.passphrase)
      state.isLocked = false
    }
  }

  package func keep(_ failures: PassphraseFailures) async { state.withLock { $0.passphraseFailures = failures } }

  package func lock() async { state.withLock { $0.isLocked = true } }

  package func rekey(_ request: Rekey.Params) async throws(KeyFailure) {
    try state.withLock { state throws(KeyFailure) in
      state.tries += 1
      if let failure = state.keyFailure { throw failure }
      try Self.check(request.passphrase, state.passphrase)
      state.passphrase = request.keySource == .file ? nil : request.newPassphrase ?? state.passphrase
    }
  }

  package func check(isFull: Bool) async throws(StoreFailure) -> [VaultFinding] {
    try state.withLock { state throws(StoreFailure) in
      guard !state.isLocked else { throw .locked }
      return state.findings
    }
  }

  private static func check(_ given: Secret?, _ right: Secret?) throws(KeyFailure) {
    guard let right else { return }
    guard let given else { throw .passphraseMissing }
    guard given == right else { throw .wrongPassphrase }
  }
}
