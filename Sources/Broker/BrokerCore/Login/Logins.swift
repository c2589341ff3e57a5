import BrokerProtocol

/// All logins: those that their provider has not answered yet, and of each profile the one that waits for a code or for
/// its user, under a handle that cannot be guessed.
///
/// Any client allowed on the profile may go on with a pending login; a newer one replaces an older one.
struct Logins {
  /// The actions for a pending login, in order.
  struct Decision {
    /// The login as it is now.
    let login: PendingLogin
    /// The actions for the runner.
    let actions: [LoginMachine.Action]
  }

  /// The end of a login.
  struct Ending: Equatable {
    /// The step that it ended at, without the provider's handle.
    let step: PendingLoginStep
    /// Why there is no session; nil where there is one.
    let failure: LoginEnd?
  }

  /// How long after its time the end of a login is remembered: its callers ask within a minute.
  private static let memory = Duration.seconds(60)

  /// The logins that their provider has not answered yet.
  var attempts = LoginAttempts()
  /// The tasks of pending logins.
  var runs = LoginRuns()
  private var machines: [ProfileName: LoginMachine] = [:]
  /// The end of the last login of each profile that waited for its user: some callers ask late.
  private var endings: [ProfileName: Ending] = [:]
  /// The profiles whose login is over, and its record still to be removed from the store.
  private var unclosed: Set<ProfileName> = []
  /// Whether the broker is about to end, and waits for no user any more.
  private var isEnding = false

  /// Whether a login waits for a code or for its user.
  var isAnyPending: Bool { !machines.isEmpty }

  /// How many callers wait with a code.
  var callerCount: Int { machines.values.reduce(0) { $0 + $1.callerCount } }

  /// The handles of all pending logins.
  var ids: [String] { machines.values.map(\.login.id).sorted() }

  /// The handle of a profile's pending login.
  func id(of profile: ProfileName) -> String? { machines[profile]?.login.id }

  /// The pending login behind a handle, ended or not.
  subscript(id: String) -> LoginMachine? { machines.values.first { $0.login.id == id } }

  /// The pending login behind a handle, unless its time is over.
  func find(_ id: String, at now: Timestamp) -> LoginMachine? {
    self[id].flatMap { $0.isUsable(at: now) ? $0 : nil }
  }

  /// The present step of a profile's login, unless it has expired.
  func step(of profile: ProfileName, at now: Timestamp) -> PendingLoginStep? {
    guard let machine = machines[profile], machine.isUsable(at: now), machine.state != .accepting else { return nil }
    return machine.login.step
  }

  /// The end of the login behind a handle, if it is recent enough.
  func ending(of id: String, at now: Timestamp) -> Ending? {
    guard let ending = endings.values.first(where: { $0.step.id == id }) else { return nil }
    return ending.step.expiresAt + Self.memory > now ? ending : nil
  }

  /// Whether a login of a profile may still bring a session.
  func mayBringSession(to slot: ProfileSlot) -> Bool { machines[slot.name] != nil || attempts.hasAny(on: slot) }

  /// When the next pending login wants to be woken; nil where none does.
  func nextWake(at now: Moment) -> Duration? { machines.values.compactMap { $0.nextWake(at: now) }.min() }
}

/// The life of pending logins.
extension Logins {
  /// Adds a login; an earlier one of the profile has ended before.
  mutating func insert(_ login: PendingLogin) {
    machines[login.profile] = LoginMachine(login)
    unclosed.remove(login.profile)
  }

  /// Lets a login decide; one that is over is forgotten.
  ///
  /// - Returns: what is to be done; nil where there is no login of this handle.
  mutating func handle(_ event: LoginMachine.Event, _ id: String, at now: Moment) -> Decision? {
    guard var machine = self[id] else { return nil }
    var actions = machine.handle(event, at: now)
    // A broker that is ending polls no more.
    if isEnding, case .resting = machine.state { actions += machine.handle(.brokerEnding, at: now) }
    let login = machine.login
    machines[login.profile] = machine
    for action in actions { note(action, login.profile) }
    if case .over(let ending) = machine.state { forget(login, ending) }
    return Decision(login: login, actions: actions)
  }

  /// Notes an action: the record of a login goes with the event that reports its end, else with the next change of its
  /// profile.
  private mutating func note(_ action: LoginMachine.Action, _ profile: ProfileName) {
    switch action {
    case .accept, .end(_, isTold: false): unclosed.insert(profile)
    case .end(_, isTold: true): unclosed.remove(profile)
    default: break
    }
  }

  private mutating func forget(_ login: PendingLogin, _ ending: LoginMachine.Ending) {
    machines[login.profile] = nil
    if case .ended(let reason) = ending { remember(login.step, reason) }
  }

  /// Forgets a login whose session was saved, or could not be; its end is remembered as long as it would have lived.
  mutating func finish(_ id: String, _ failure: LoginEnd?) {
    guard let login = self[id]?.login else { return }
    machines[login.profile] = nil
    remember(login.step, failure)
  }

  private mutating func remember(_ step: PendingLoginStep, _ failure: LoginEnd?) {
    if step.action != nil { endings[step.profile] = Ending(step: step, failure: failure) }
  }

  /// Notes that the broker is about to end: no login rests any more until its next poll.
  mutating func beginEnding() { isEnding = true }

  /// Forgets all pending logins and how others ended: the vault was locked.
  mutating func forgetPending() {
    machines = [:]
    endings = [:]
    unclosed = []
  }
}

/// The records of ended logins that are still to be removed from the store.
extension Logins {
  /// Notes that the record of an ended login is still in the store, unless another login has taken its place.
  mutating func noteUnclosed(_ profile: ProfileName) {
    if machines[profile] == nil { unclosed.insert(profile) }
  }

  /// Takes out a profile whose record is about to be removed; false where there is none to remove.
  mutating func takeUnclosed(_ profile: ProfileName) -> Bool { unclosed.remove(profile) != nil }

  /// Takes out all profiles whose record is to be removed.
  mutating func takeAllUnclosed() -> [ProfileName] {
    defer { unclosed = [] }
    return unclosed.sorted()
  }
}
