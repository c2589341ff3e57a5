/// The kind of a request's turns.
enum TurnWork: Sendable, CaseIterable {
  /// It reads, or hands a mail over: its caller may end it at any time.
  case ordinary
  /// Its answer comes only once.
  case spending
}

/// The outcome of adding a request.
enum TurnAdmission: Sendable {
  /// It has its turn.
  case begins
  /// It waits for its turn.
  case waits
  /// Too many wait.
  case refused
}

/// Decides which requests are under way and which wait for their turn, at each server.
///
/// Ordinary requests have few turns at each server. Those that spend something share the turns of all servers; a server
/// has at most ``shareOfFree`` times as many as are free, so that there is always one for another server.
struct TurnTable<Waiter> {
  /// How many times the free turns one server may have.
  static var shareOfFree: Int { 3 }

  private struct Lane {
    var ordinary = 0
    var flights = 0
    var connecting = 0
    var waiting: [TurnWork: ArraySlice<Waiter>] = [:]

    // No key path: this is asked after each request.
    var isUnused: Bool { ordinary == 0 && flights == 0 && waiting.values.allSatisfy { $0.isEmpty } }
  }

  private let limits: HTTPLimits
  private var lanes: [String: Lane] = [:]
  private var flights = 0
  private var (waitingFlights, waitingOthers) = (0, 0)

  /// A table without requests.
  init(_ limits: HTTPLimits) { self.limits = limits }

  /// Whether so many requests are under way at a server that no connection to it needs to be kept.
  func isBusy(_ server: String) -> Bool { (lanes[server]?.flights ?? 0) > limits.requestsPerServer }

  /// Takes a new request in.
  mutating func admit(_ waiter: Waiter, _ work: TurnWork, at server: String) -> TurnAdmission {
    var lane = lanes[server] ?? Lane()
    let waiting = lane.waiting[work]?.count ?? 0
    if waiting == 0, mayBegin(work, lane) {
      begin(work, at: server)
      return .begins
    }
    switch work {
    case .ordinary:
      guard waiting < limits.waitingPerServer else { return .refused }
      waitingOthers += 1
    case .spending:
      guard waitingFlights < limits.waitingFlights else { return .refused }
      waitingFlights += 1
    }
    lane.waiting[work, default: []].append(waiter)
    lanes[server] = lane
    return .waits
  }

  /// Takes in that a request has a connection, and is sent.
  mutating func sent(_ work: TurnWork, at server: String) {
    if work == .spending { lanes[server]?.connecting -= 1 }
  }

  /// Takes in that a request is over.
  mutating func ended(_ work: TurnWork, at server: String, wasSent: Bool) {
    switch work {
    case .ordinary: lanes[server]?.ordinary -= 1
    case .spending:
      flights -= 1
      lanes[server]?.flights -= 1
      if !wasSent { lanes[server]?.connecting -= 1 }
    }
    if lanes[server]?.isUnused == true { lanes[server] = nil }
  }

  /// Gives the next waiting request that has its turn now; nil where there is none.
  mutating func next() -> (waiter: Waiter, server: String)? {
    // It is asked after each turn, and mostly nothing waits.
    guard waitingFlights > 0 || waitingOthers > 0 else { return nil }
    for work in TurnWork.allCases {
      // The server with the fewest comes first; the name only makes the order definite.
      let candidates = lanes.filter { $0.value.waiting[work]?.isEmpty == false && mayBegin(work, $0.value) }
      let first = candidates.min { ($0.value.flights, $0.key) < ($1.value.flights, $1.key) }
      guard let server = first?.key, let waiter = lanes[server]?.waiting[work]?.popFirst() else { continue }
      noteLeft(1, work)
      begin(work, at: server)
      return (waiter, server)
    }
    return nil
  }

  /// Takes out the waiting requests that are meant.
  mutating func remove(_ work: TurnWork, where isMeant: (Waiter) -> Bool) -> [Waiter] {
    var removed: [Waiter] = []
    for (server, lane) in lanes {
      var rest: ArraySlice<Waiter> = []
      // Each is asked once: another thread may cancel it meanwhile.
      for waiter in lane.waiting[work] ?? [] {
        if isMeant(waiter) { removed.append(waiter) } else { rest.append(waiter) }
      }
      lanes[server]?.waiting[work] = rest
      if lanes[server]?.isUnused == true { lanes[server] = nil }
    }
    noteLeft(removed.count, work)
    return removed
  }

  /// Takes in that some wait no more.
  private mutating func noteLeft(_ count: Int, _ work: TurnWork) {
    switch work {
    case .ordinary: waitingOthers -= count
    case .spending: waitingFlights -= count
    }
  }

  /// The ordinary requests that wait.
  var waitingOrdinary: [Waiter] { lanes.values.flatMap { $0.waiting[.ordinary] ?? [] } }

  private func mayBegin(_ work: TurnWork, _ lane: Lane) -> Bool {
    switch work {
    case .ordinary: lane.ordinary < limits.requestsPerServer
    case .spending:
      flights < limits.flights && lane.connecting < limits.connectingPerServer
        && lane.flights < Self.shareOfFree * (limits.flights - flights)
    }
  }

  private mutating func begin(_ work: TurnWork, at server: String) {
    switch work {
    case .ordinary: lanes[server, default: Lane()].ordinary += 1
    case .spending:
      flights += 1
      lanes[server, default: Lane()].flights += 1
      lanes[server, default: Lane()].connecting += 1
    }
  }
}
