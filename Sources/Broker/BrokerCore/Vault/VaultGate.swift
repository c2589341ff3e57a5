import BrokerProtocol

/// Decides whether clients may use the vault's contents, which key is tried when, and when the keys are wiped.
///
/// A value that does no I/O and reads no clock: it gets events and gives actions, which its runner performs in order.
/// Every event is legal in every state.
struct VaultGate: Sendable {
  /// The phase of the vault, as clients see it.
  enum Phase: Equatable {
    /// They may use its contents. Left when it is to be locked.
    case open
    /// They may not, and earlier work is being finished and saved. Left when nothing is left to save.
    case locking
    /// They may not, and the keys are gone. Left by an attempt to open it.
    case locked
    /// They may not yet: the key is being tried. Left when it opens the vault, or does not.
    case opening
  }

  /// An event that drives the gate.
  enum Event {
    /// The stored records were read without a person's passphrase: the vault is open.
    case started
    /// A client wants a key to be tried; `limit` is how many may wait.
    case wanted(KeyAttempt, limit: Int)
    /// A client wants the vault to be locked.
    case lockWanted(CallerID)
    /// The vault is to be locked by itself; one that is not open stays as it is.
    case lockDue
    /// The key that was tried is the right one.
    case accepted(StoreStatus)
    /// The key that was tried does not open the vault; `isWrong` is whether it was a wrong passphrase.
    case refused(BrokerError, isWrong: Bool)
    /// The attempt that was made is over.
    case finished(BrokerError?)
    /// The first attempt after the start may be made.
    case firstAttemptDue
    /// No work is under way that needs the keys; `isSaved` is whether everything has reached the store.
    case idle(isSaved: Bool)
    /// The keys are gone.
    case dropped(StoreStatus)
    /// A connection was closed.
    case clientLeft(ClientID)
  }

  /// An action for the runner to carry out.
  enum Action {
    /// Answer a caller.
    case answer(CallerID, BrokerError?)
    /// Refuse a caller because too many wait.
    case refuseForNumber(CallerID)
    /// Forget a caller whose connection was closed.
    case forget(CallerID)
    /// Try a key.
    case attempt(KeyAttempt)
    /// Keep the wrong passphrases for the next start.
    case keep(PassphraseFailures)
    /// Keep them, and finish the attempt with an error at a time.
    case delay(PassphraseFailures, BrokerError, until: Duration)
    /// Let the first attempt be made at a time.
    case wakeFirstAttempt(at: Duration)
    /// Let nothing out any more, and begin nothing new.
    case close
    /// Forget every token, and wipe the keys.
    case drop
  }

  /// The present phase.
  private(set) var phase = Phase.locked
  /// The status that the store last reported.
  private(set) var status: StoreStatus
  private var queue = KeyAttemptQueue()
  /// The attempt that is being made, or whose answer is kept back.
  private var attempt: KeyAttempt?
  private var locks: [CallerID] = []
  private var delay: PassphraseDelay
  /// When the first key may be tried after a start, as uptime; nil for at once.
  private var firstAttempt: Duration?
  /// Whether attempts wait for that time.
  private var isHeldBack = false
  /// Whether the keys are just going.
  private var isDropping = false

  /// The gate of a store that is locked.
  init(_ status: StoreStatus, at now: Moment) {
    self.status = status
    delay = PassphraseDelay(after: status.passphraseFailures)
    let wait = delay.remaining(at: now.wall)
    if wait > .zero { firstAttempt = now.uptime + wait }
  }

  /// Whether clients may use the vault's contents.
  var isOpen: Bool { phase == .open }
  /// How many requests for the key wait.
  var waitingCount: Int { queue.count }
  /// Whether it is open only in this process: a person has given the passphrase.
  var needsPersonToOpen: Bool { isOpen && status.keySource == .passphrase }

  /// Takes in what has happened.
  ///
  /// - Returns: what is to be done, in order.
  mutating func handle(_ event: Event, at now: Moment) -> [Action] {
    switch event {
    case .started:
      phase = .open
      return []
    case .wanted(let attempt, let limit): return admit(attempt, limit) + next(now)
    case .lockWanted(let caller): return lock(caller)
    case .lockDue: return isOpen ? closing() : []
    case .accepted(let status): return accept(status)
    case .refused(let error, let isWrong): return refuse(error, isWrong, now) + next(now)
    case .finished(let error): return finish(error) + next(now)
    case .firstAttemptDue:
      isHeldBack = false
      return next(now)
    case .idle(let isSaved): return concludeLocking(isSaved)
    case .dropped(let status):
      (phase, isDropping, self.status) = (.locked, false, status)
      return acknowledgeLocks() + next(now)
    case .clientLeft(let client): return queue.forget(client).map { .forget($0.caller) }
    }
  }

  private mutating func admit(_ attempt: KeyAttempt, _ limit: Int) -> [Action] {
    switch queue.add(attempt, limit: limit) {
    case .admitted: return []
    case .displaced(let other): return [.refuseForNumber(other.caller)]
    case .full: return [.refuseForNumber(attempt.caller)]
    case .refused:
      let error = BrokerError(
        .overloaded, "Another request of this connection for the vault's key is waiting; try again.")
      return [.answer(attempt.caller, error)]
    }
  }

  /// The attempts to make now: one, unless one is being made, or the vault is just being locked.
  private mutating func next(_ now: Moment) -> [Action] {
    guard attempt == nil, !isHeldBack else { return [] }
    if phase == .locked, !queue.isEmpty, let time = firstAttempt {
      firstAttempt = nil
      if now.uptime < time {
        isHeldBack = true
        return [.wakeFirstAttempt(at: time)]
      }
    }
    var actions: [Action] = []
    while attempt == nil, phase == .open || phase == .locked, let next = queue.takeNext() {
      switch (next.isUnlock, phase) {
      case (true, .open): actions.append(.answer(next.caller, nil))
      case (false, .locked): actions.append(.answer(next.caller, BrokerError(.vaultLocked)))
      default:
        attempt = next
        if next.isUnlock { phase = .opening }
        actions.append(.attempt(next))
      }
    }
    return actions
  }

  private mutating func lock(_ caller: CallerID) -> [Action] {
    switch phase {
    case .locked: return overtaken() + [.answer(caller, nil)]
    case .locking, .opening:
      locks.append(caller)
      return overtaken()
    case .open:
      locks.append(caller)
      return closing()
    }
  }

  private mutating func closing() -> [Action] {
    phase = .locking
    return overtaken() + [.close]
  }

  /// Refuses requests to open the vault that came before the lock: they must not open it afterwards.
  private mutating func overtaken() -> [Action] {
    let error = BrokerError(.vaultLocked, "The vault was locked in the meantime; unlock it again.")
    return queue.remove(where: \.isUnlock).map { .answer($0.caller, error) }
  }

  private mutating func accept(_ status: StoreStatus) -> [Action] {
    let hadFailures = delay.failures != .none
    delay.noteSuccess()
    queue.noteSuccess()
    self.status = status
    if phase == .opening { phase = .open }
    return hadFailures ? [.keep(.none)] : []
  }

  private mutating func refuse(_ error: BrokerError, _ isWrong: Bool, _ now: Moment) -> [Action] {
    if phase == .opening { phase = .locked }
    guard isWrong else { return finish(error) }
    queue.noteFailure(of: attempt?.principal)
    let time = now.uptime + delay.noteFailure(at: now.wall)
    // Before the answer: ending the broker after it does not end the delay.
    return [.delay(delay.failures, error, until: time)]
  }

  private mutating func finish(_ error: BrokerError?) -> [Action] {
    let answer: [Action] = attempt.map { [.answer($0.caller, error)] } ?? []
    attempt = nil
    guard !locks.isEmpty else { return answer }
    switch phase {
    case .open:
      phase = .locking
      return answer + [.close]
    // The key did not open the vault, so it is locked as was asked.
    case .locked: return answer + acknowledgeLocks()
    case .locking, .opening: return answer
    }
  }

  private mutating func concludeLocking(_ isSaved: Bool) -> [Action] {
    guard phase == .locking, attempt == nil, !isDropping else { return [] }
    guard isSaved else {
      // The newest tokens are nowhere but in memory.
      let error = BrokerError(
        .storeFailed,
        "The vault is locked for clients, but the newest tokens could not be saved; they and the key stay in memory until the"
          + " vault can be written.")
      let callers = locks + queue.remove { _ in true }.map(\.caller)
      locks = []
      return callers.map { .answer($0, error) }
    }
    isDropping = true
    return [.drop]
  }

  private mutating func acknowledgeLocks() -> [Action] {
    defer { locks = [] }
    return locks.map { .answer($0, nil) }
  }
}
