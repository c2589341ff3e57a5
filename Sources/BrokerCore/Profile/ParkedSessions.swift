import BrokerProtocol

/// Which sessions changes of the configuration have signed out, and until when they are kept: their tokens rest in the
/// store alone.
struct ParkedSessions {
  /// How long a wall clock must have said that the day of one is past: one that was set wrong is set right by then.
  private static let patience = Duration.seconds(86400)

  /// When each of them was signed out.
  private var times: [ParkedSession.ID: Timestamp] = [:]
  /// Who has given those that were signed out since the start: a configuration that names the provider is gone.
  private var providers: [ParkedSession.ID: any AuthProvider] = [:]
  /// Those whose refresh was under way, by the stay of their profile, until its answer comes.
  private var awaited: [SlotID: ParkedSession] = [:]
  /// Where those are now that have come back before that answer, and which session of the profile it is.
  private var returned: [SlotID: (slot: SlotID, sessions: UInt64)] = [:]
  /// The ends of accounts that are on their way to the store.
  private var accountEnds: [UInt64: ParkedAccountEnd] = [:]
  /// How many of these there ever were; names the next one.
  private var accountEndCount: UInt64 = 0
  /// The accounts whose end the store has refused.
  private var unended: [ParkedAccount] = []
  /// Whether those are known that rest in the store.
  private var isLoaded = false
  /// Since when, in uptime, the wall clock has said without a break that the day of one is past.
  private var overdue: [ParkedSession.ID: Duration] = [:]
  /// Wakes the broker when there is next something to look at.
  var timer: TimerCancellation?

  /// All of them, by their profiles.
  var all: [(id: ParkedSession.ID, end: Timestamp)] {
    times.map { ($0.key, $0.value + ParkedSession.lifetime) }
      .sorted { ($0.id.profile, $0.end) < ($1.id.profile, $1.end) }
  }

  /// Takes in what the wall clock says of their ends: only one that says the same for a whole day ends anything.
  ///
  /// - Returns: the uptime at which to look again; nil where there is none.
  mutating func look(at now: Moment) -> Duration? {
    for (id, since) in times {
      overdue[id] = since + ParkedSession.lifetime <= now.wall ? overdue[id] ?? now.uptime : nil
    }
    if !unended.isEmpty { return now.uptime }
    return times.map { id, since in
      overdue[id].map { $0 + Self.patience } ?? now.uptime(of: since + ParkedSession.lifetime)
    }.min()
  }

  /// Whether one has ended by a clock that has said so for long enough.
  func isOver(_ id: ParkedSession.ID, at now: Moment) -> Bool {
    overdue[id].map { now.uptime - $0 >= Self.patience } ?? false
  }

  /// Whether there is one under a name.
  func contains(_ id: ParkedSession.ID) -> Bool { times[id] != nil }

  /// Whether there is one of a profile.
  func hasAny(of profile: ProfileName) -> Bool { times.keys.contains { $0.profile == profile } }

  /// Whether there is one that is bound to a place.
  func hasAny(at binding: ProviderBinding) -> Bool { times.keys.contains { $0.binding == binding } }

  /// Begins to end all that is kept of an account; its name.
  mutating func begin(_ end: ParkedAccountEnd) -> UInt64 {
    accountEndCount += 1
    accountEnds[accountEndCount] = end
    return accountEndCount
  }

  /// Takes in what has happened to such an end.
  ///
  /// - Returns: the end, once nothing is to come any more.
  mutating func update(_ id: UInt64, _ change: (inout ParkedAccountEnd) -> Void) -> ParkedAccountEnd? {
    guard var end = accountEnds.removeValue(forKey: id) else { return nil }
    change(&end)
    guard !end.isReading, end.unsaved.isEmpty else {
      accountEnds[id] = end
      return nil
    }
    if end.failure != nil { unended.append(end.account) }
    return end
  }

  /// Takes out the accounts whose end is tried again.
  mutating func takeUnended() -> [ParkedAccount] {
    defer { unended = [] }
    return unended
  }

  /// Takes in those that rest in the store, unless they are known: what was read may be older than that.
  mutating func load(_ sessions: [ParkedSession]) {
    guard !isLoaded else { return }
    isLoaded = true
    for session in sessions { times[session.id] = session.since }
  }

  /// Takes in one that is kept from now on.
  mutating func insert(_ session: ParkedSession, by provider: (any AuthProvider)? = nil, awaiting slot: SlotID? = nil) {
    times[session.id] = session.since
    overdue[session.id] = nil
    if let provider { providers[session.id] = provider }
    if let slot { awaited[slot] = session }
  }

  /// Takes out one that comes back to a new stay of its profile; the answer to a refresh that is under way still is that
  /// stay's.
  mutating func bringBack(_ id: ParkedSession.ID, to slot: SlotID, sessions: UInt64) {
    for (old, session) in awaited where session.id == id { returned[old] = (slot, sessions) }
    _ = remove(id)
  }

  /// Lets the answers to refreshes that were waited for on a stay be waited for by its session, which is kept.
  mutating func await(_ session: ParkedSession, from slot: SlotID) {
    for (old, new) in returned where new.slot == slot {
      returned[old] = nil
      awaited[old] = session
    }
  }

  /// Takes out where the session of a stay is now whose refresh was under way; nil where it has not come back.
  mutating func takeReturned(_ slot: SlotID) -> (slot: SlotID, sessions: UInt64)? {
    returned.removeValue(forKey: slot)
  }

  /// Takes out one that has come back, or has ended for good.
  ///
  /// - Returns: who has given it, where that is known.
  mutating func remove(_ id: ParkedSession.ID) -> (any AuthProvider)? {
    times[id] = nil
    awaited = awaited.filter { $0.value.id != id }
    return providers.removeValue(forKey: id)
  }

  /// Takes in again one whose end the store has refused.
  mutating func putBack(_ end: ParkedEnd) {
    times[end.id] = end.since
    providers[end.id] = end.provider
  }

  /// Takes out the one whose refresh was under way on a stay of its profile; nil where none was, or it is kept no more.
  mutating func takeAwaited(_ slot: SlotID) -> ParkedSession? { awaited.removeValue(forKey: slot) }

  /// Forgets them until they are read again: the vault is locked.
  mutating func unload() { (times, overdue, awaited, returned, isLoaded) = ([:], [:], [:], [:], false) }
}
