import BrokerProtocol

/// The parked sessions, which changes of the configuration have signed out, and their expiry.
struct ParkedSessions {
  /// How long a wall clock must have said that one is past its day: a clock that was set wrong is set right by then.
  private static let patience = Duration.seconds(86400)

  /// When each of them was signed out.
  private var times: [ParkedSession.ID: Timestamp] = [:]
  /// The sealed records written since the vault was opened: what is read from the store may be older.
  private var written: [ParkedSession.ID: ParkedSession] = [:]
  /// The providers of those parked since the start: the configuration that names the provider is gone.
  private var providers: [ParkedSession.ID: any AuthProvider] = [:]
  /// The sessions whose refresh is under way, by the stay of their profile on which it was sent, until its answer
  /// comes.
  private var awaited: [SlotID: (session: ParkedSession, flight: FlightUnderWay)] = [:]
  /// The stay to which a session has come back whose answer is still to come, by the stay on which it was sent.
  private var returned: [SlotID: SlotID] = [:]
  /// The ends of accounts that are on their way to the store.
  private var accountEnds: [UInt64: ParkedAccountEnd] = [:]
  /// How many of these there ever were; names the next one.
  private var accountEndCount: UInt64 = 0
  /// The accounts whose end the store has refused.
  private var unended: [ParkedAccount] = []
  /// Before which uptime none is ended: the store has refused it.
  private var notBefore = Duration.zero
  /// Whether those are known that rest in the store.
  private var isLoaded = false
  /// Since when, in uptime, the wall clock has said without a break that one is past its day.
  private var overdue: [ParkedSession.ID: Duration] = [:]
  /// Wakes the broker when there is next something to look at.
  var timer: TimerCancellation?

  /// All of them, by their profiles.
  var all: [(id: ParkedSession.ID, end: Timestamp)] {
    times.map { ($0.key, $0.value + ParkedSession.lifetime) }
      .sorted { ($0.id.profile, $0.end) < ($1.id.profile, $1.end) }
  }

  /// Checks their ends against the wall clock: only one that says the same for a whole day ends anything.
  ///
  /// - Returns: the uptime at which to look again; nil where there is none.
  mutating func look(at now: Moment) -> Duration? {
    for (id, since) in times {
      overdue[id] = since + ParkedSession.lifetime <= now.wall ? overdue[id] ?? now.uptime : nil
    }
    let ends = times.map { id, since in
      overdue[id].map { $0 + Self.patience } ?? now.uptime(of: since + ParkedSession.lifetime)
    }
    return (ends + (unended.isEmpty ? [] : [now.uptime])).min().map { max($0, notBefore) }
  }

  /// Whether one is past its day, by a clock that has said so for long enough.
  func isOver(_ id: ParkedSession.ID, at now: Moment) -> Bool {
    overdue[id].map { now.uptime - $0 >= Self.patience } ?? false
  }

  /// Lets nothing be ended before an uptime.
  mutating func rest(until uptime: Duration) { notBefore = uptime }

  /// All of them as they are now, where the store was read a moment ago.
  func newest(_ contents: StoreContents) -> [ParkedSession] {
    contents.parked.filter { written[$0.id] == nil } + written.values
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

  /// Takes in the stored ones, unless they are known: what was read may be older.
  mutating func load(_ sessions: [ParkedSession]) {
    guard !isLoaded else { return }
    isLoaded = true
    for session in sessions { times[session.id] = session.since }
  }

  /// Takes in one that is kept from now on.
  mutating func insert(_ session: ParkedSession, by provider: (any AuthProvider)? = nil) {
    times[session.id] = session.since
    written[session.id] = session.resting()
    overdue[session.id] = nil
    if let provider { providers[session.id] = provider }
  }

  /// Makes a parked session wait for the answer to the flight that was sent on a stay.
  mutating func expect(_ flight: FlightUnderWay, on stay: SlotID, for session: ParkedSession) {
    returned[stay] = nil
    awaited[stay] = (session, flight)
  }

  /// Takes in what the answer to its refresh has made of one.
  mutating func update(_ session: ParkedSession) { written[session.id] = session }

  /// Takes out one that comes back to a new stay of its profile.
  ///
  /// - Returns: the flight whose answer it waits for from now on, and the stay on which that was sent; nil where none is
  ///   under way.
  mutating func bringBack(_ id: ParkedSession.ID, to slot: SlotID) -> (flight: FlightUnderWay, stay: SlotID)? {
    let flight = awaited.first { $0.value.session.id == id }.map { ($0.value.flight, $0.key) }
    if let flight { returned[flight.1] = slot }
    _ = remove(id)
    return flight
  }

  /// Takes out the stay to which the session has come back whose flight was sent on another one; nil where it has not.
  mutating func takeReturned(_ stay: SlotID) -> SlotID? { returned.removeValue(forKey: stay) }

  /// Takes out one that has come back, or has ended for good.
  ///
  /// - Returns: who has given it, where that is known.
  mutating func remove(_ id: ParkedSession.ID) -> (any AuthProvider)? {
    times[id] = nil
    written[id] = nil
    awaited = awaited.filter { $0.value.session.id != id }
    return providers.removeValue(forKey: id)
  }

  /// Takes in again one whose end the store has refused.
  mutating func putBack(_ end: ParkedEnd) {
    times[end.id] = end.since
    providers[end.id] = end.provider
  }

  /// Takes out the one whose refresh was under way on a stay of its profile; nil where none was, or it is kept no more.
  mutating func takeAwaited(_ stay: SlotID) -> ParkedSession? { awaited.removeValue(forKey: stay)?.session }

  /// Forgets them until they are read again: the vault is locked.
  mutating func unload() {
    (times, written, overdue, awaited, returned, isLoaded) = ([:], [:], [:], [:], [:], false)
  }
}
