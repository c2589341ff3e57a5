import BrokerProtocol

/// The tokens still to be revoked, and the logouts that wait for that.
struct Logouts {
  /// One profile's part in a logout.
  struct Part {
    /// Names the logout.
    let logout: UInt64
    /// The profile.
    let profile: ProfileName
  }

  /// The revocations that providers have still to be sent.
  private(set) var queue = RevocationQueue()
  /// Wakes the queue.
  private var wake: (uptime: Duration, timer: TimerCancellation)?
  private var gatherings: [UInt64: LogoutGathering] = [:]
  private var parts: [PendingRevocation.ID: Part] = [:]
  private var count: UInt64 = 0
  /// The logins that wait for a revocation to be answered, in order.
  private var heldLogins: [(id: UInt64, profile: ProfileName, begin: HeldLogin)] = []

  /// The beginning of a login.
  typealias HeldLogin = @Sendable (isolated Broker) -> Void

  /// Lets the queue decide.
  ///
  /// - Returns: what is to be done, in order.
  mutating func handle(_ event: RevocationQueue.Event, at now: Moment) -> [RevocationQueue.Action] {
    switch event {
    case .woken: wake = nil
    // The revocations that are waited for are forgotten, too.
    case .dropped: parts = [:]
    default: break
    }
    return queue.handle(event, at: now)
  }

  /// A name for the next revocation of a profile, which a part of a logout may wait for.
  mutating func newRevocationID(of profile: ProfileName, for part: Part?) -> PendingRevocation.ID {
    let id = queue.nextID(of: profile)
    if let part { parts[id] = part }
    return id
  }

  /// Lets a login wait for the revocation of its profile that is under way.
  ///
  /// - Returns: its name.
  mutating func hold(_ login: @escaping HeldLogin, of profile: ProfileName) -> UInt64 {
    let id = newID()
    heldLogins.append((id, profile, login))
    return id
  }

  /// Takes out a login that has waited long enough; nil for one that was begun.
  mutating func takeHeld(_ id: UInt64) -> HeldLogin? {
    heldLogins.firstIndex { $0.id == id }.map { heldLogins.remove(at: $0).begin }
  }

  /// Takes out the logins for which no revocation is under way any more.
  mutating func takeReleased() -> [HeldLogin] {
    let (queue, held) = (queue, heldLogins)
    heldLogins.removeAll { queue.underWay(of: $0.profile) == nil }
    return held.filter { queue.underWay(of: $0.profile) == nil }.map(\.begin)
  }

  /// Sets the timer by which the queue is to be woken, unless it is set for that; `schedule` makes one.
  mutating func setWake(_ schedule: (Duration) -> TimerCancellation) {
    guard wake?.uptime != queue.nextWake else { return }
    wake?.timer.cancel()
    wake = queue.nextWake.map { ($0, schedule($0)) }
  }

  /// A name for the next logout.
  mutating func newID() -> UInt64 {
    count += 1
    return count
  }

  /// Begins a logout.
  mutating func begin(_ id: UInt64, _ gathering: LogoutGathering) { gatherings[id] = gathering }

  /// The profiles of a logout, in the order of its answer; nil for one that is answered.
  func profiles(of id: UInt64) -> [ProfileName]? { gatherings[id]?.order }

  /// The principal that asked for a logout; nil for one that is answered.
  func principal(of id: UInt64) -> Principal? { gatherings[id]?.caller.principal }

  /// Changes a logout.
  ///
  /// - Returns: the logout with its answer, once, when nothing is to come any more.
  mutating func update(
    _ id: UInt64, _ change: (inout LogoutGathering) -> Void
  ) -> (logout: LogoutGathering, answer: Result<Logout.Result, BrokerError>)? {
    guard var logout = gatherings[id] else { return nil }
    change(&logout)
    gatherings[id] = logout
    guard let answer = logout.answer else { return nil }
    gatherings[id] = nil
    return (logout, answer)
  }

  /// The logout that waits for the first try of a revocation; nil where none does.
  func logout(waitingFor revocation: PendingRevocation.ID) -> UInt64? { parts[revocation]?.logout }

  /// Takes out the part that waited for the first try of a revocation; nil where none does.
  mutating func takePart(waitingFor revocation: PendingRevocation.ID) -> Part? {
    parts.removeValue(forKey: revocation)
  }
}
