import BrokerProtocol

/// The end of a kept session on its way to the store.
struct ParkedEnd: Sendable {
  /// Its name.
  let id: ParkedSession.ID
  /// When it was signed out.
  let since: Timestamp
  /// Who has given it, where that is known.
  let provider: (any AuthProvider)?
  /// The logout that waits for it; nil for none.
  let logout: UInt64?
  /// The revocations that are kept with it.
  var revocations: [PendingRevocation.ID] = []
}

/// Which sessions changes of the configuration have signed out, and until when they are kept: their tokens rest in the
/// store alone.
struct ParkedSessions {
  /// When each of them was signed out.
  private var times: [ParkedSession.ID: Timestamp] = [:]
  /// Who has given those that were signed out since the start: a configuration that names the provider is gone.
  private var providers: [ParkedSession.ID: any AuthProvider] = [:]
  /// Those whose refresh was under way, by the stay of their profile, until its answer comes.
  private var awaited: [SlotID: ParkedSession] = [:]
  /// Where those are now that have come back before that answer, and which session of the profile it is.
  private var returned: [SlotID: (slot: SlotID, sessions: UInt64)] = [:]
  /// Whether those are known that rest in the store.
  private var isLoaded = false
  /// Wakes the broker at the end of the next one.
  var timer: TimerCancellation?

  /// All of them, by their profiles.
  var all: [(id: ParkedSession.ID, end: Timestamp)] {
    times.map { ($0.key, $0.value + ParkedSession.lifetime) }
      .sorted { ($0.id.profile, $0.end) < ($1.id.profile, $1.end) }
  }

  /// The first end of one of them; nil where there is none.
  var nextEnd: Timestamp? { times.values.min().map { $0 + ParkedSession.lifetime } }

  /// Whether there is one under a name.
  func contains(_ id: ParkedSession.ID) -> Bool { times[id] != nil }

  /// Whether there is one of a profile.
  func hasAny(of profile: ProfileName) -> Bool { times.keys.contains { $0.profile == profile } }

  /// Takes in those that rest in the store, unless they are known: what was read may be older than that.
  mutating func load(_ sessions: [ParkedSession]) {
    guard !isLoaded else { return }
    isLoaded = true
    for session in sessions { times[session.id] = session.since }
  }

  /// Takes in one that is kept from now on.
  mutating func insert(_ session: ParkedSession, by provider: (any AuthProvider)? = nil, awaiting slot: SlotID? = nil) {
    times[session.id] = session.since
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
  mutating func unload() { (times, awaited, returned, isLoaded) = ([:], [:], [:], false) }
}
