package import BrokerProtocol

/// Decides when queued requests are sent: those of a profile one after the other, each until it has an answer or its time is
/// over.
///
/// Only the first request of a profile's line is ever sent. Before its first byte leaves, it is durable that it may have
/// been sent; from then on it is repeated with its key alone, and not after the time for which its API knows the key.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state; what comes too late changes
/// nothing.
package struct RequestQueue: Sendable {
  /// How often an API may answer that it has failed (5xx): some store such an answer, and give it for the key for ever.
  static let mostServerErrors = 10
  /// How long a line rests that waits for its owner, before it looks again: a token may be refused for a passing reason.
  static let pause = Duration.seconds(900)
  /// The most bytes of a line's answers that are kept: those of ten thousand requests would fill a disk.
  static let mostAnswerBytes = 16 << 20
  /// How long requests keep a broker alive that was started on demand: most outages are over by then.
  package static let vigil = Duration.seconds(900)

  /// The requests, by their profiles.
  var lines: [ProfileName: Line] = [:]
  private var rules: [ProfileName: Rules] = [:]
  private var leaving: Set<QueuedRequest.ID> = []
  /// Whether something may be begun.
  var isOpen = false
  private var lastNumber: UInt64 = 0
  private var wakeBound: Duration?

  /// A queue of nothing, over a store that is closed.
  package init() {}

  /// When the queue wants to be woken, or earlier; nil where nothing is to come.
  package var nextWake: Duration? { isOpen ? wakeBound : nil }

  /// The requests of a profile, in their order.
  package func requests(of profile: ProfileName) -> [QueuedRequest] {
    lines[profile]?.values.sorted { $0.id.number < $1.id.number } ?? []
  }

  /// The request of an id for clients.
  package func request(_ requestID: String) -> QueuedRequest? {
    for line in lines.values {
      if let found = line.values.first(where: { $0.requestID == requestID }) { return found }
    }
    return nil
  }

  /// The request of a profile that has a key already, of those that came by the same socket.
  package func request(of profile: ProfileName, key: String, socket: String?) -> QueuedRequest? {
    lines[profile]?.request(key: key, socket: socket)
  }

  /// A request as it is, unless it is about to be forgotten, or is not there.
  package func present(_ id: QueuedRequest.ID) -> QueuedRequest? { leaving.contains(id) ? nil : lines[id.profile]?[id] }

  /// A request as it is, unless it was cancelled, is about to be forgotten, or is not there.
  package func sendable(_ id: QueuedRequest.ID) -> QueuedRequest? {
    present(id).flatMap { $0.isCancelled || $0.hasEnded ? nil : $0 }
  }

  /// How many requests of a profile wait.
  package func waiting(of profile: ProfileName) -> Int { lines[profile]?.waitingCount ?? 0 }

  /// How many bytes the contents of all that have not ended have in the store.
  package var byteCount: Int { lines.values.reduce(0) { $0 + $1.byteCount } }

  /// Whether a broker should stay alive to go on with them.
  package func isWorthWaiting(at now: Moment) -> Bool {
    isOpen
      && lines.contains { profile, line in
        guard rules[profile] != nil, line.waitingCount > 0, now.uptime < line.since + Self.vigil else { return false }
        if case .paused = line.rest { return false }
        return true
      }
  }

  /// Why a request waits; nil for one that does not.
  package func reason(_ request: QueuedRequest) -> String? {
    guard !request.hasEnded, let line = lines[request.id.profile], let head = line.head else { return nil }
    switch line.rest {
    case .paused(let pause, _): return pause.rawValue
    case _ where head.id != request.id: return "line"
    case .until: return "retry"
    case .ready, .underWay: return nil
    }
  }

  /// A name for the next request of a profile.
  package mutating func nextID(of profile: ProfileName) -> QueuedRequest.ID {
    lastNumber += 1
    return QueuedRequest.ID(profile: profile, number: lastNumber)
  }

  /// The requests of a profile that are about to be forgotten.
  package func leaving(of profile: ProfileName) -> [QueuedRequest.ID] { leaving.filter { $0.profile == profile } }

  /// Handles an event, and returns the actions in order.
  package mutating func handle(_ event: Event, at now: Moment) -> [Action] {
    actions(event, now).filter { action in
      if case .keep(let request, _, _) = action { !leaving.contains(request.id) } else { true }
    }
  }

  private mutating func actions(_ event: Event, _ now: Moment) -> [Action] {
    switch event {
    case .configured(let rules):
      self.rules = rules
      return resumeAll(now)
    case .opened(let requests): return open(requests, now)
    case .closed: isOpen = false
    case .dropped: (isOpen, lines, leaving, wakeBound) = (false, [:], [], nil)
    case .added(let request): return add(request, now)
    case .attempted(let id, let outcome, let isMarked, let jitter): return take(outcome, of: id, isMarked, jitter, now)
    case .cancelled(let id): return cancel(id, now)
    case .leaving(let ids): leaving.formUnion(ids)
    case .removed(let ids): return remove(ids, now)
    case .sessionChanged(let profile):
      if case .paused = lines[profile]?.rest { lines[profile]?.rest = .ready }
      return look(at: profile, now)
    case .networkReturned:
      for profile in lines.keys {
        if case .until = lines[profile]?.rest, lines[profile]?.failures ?? 0 > 0 { lines[profile]?.rest = .ready }
      }
      return lookAtAll(now)
    case .woken: return lookAtAll(now)
    }
    return []
  }

  // MARK: Coming and going

  private mutating func open(_ requests: [QueuedRequest], _ now: Moment) -> [Action] {
    isOpen = true
    for request in requests.sorted(by: { $0.id.number < $1.id.number }) {
      lastNumber = max(lastNumber, request.id.number)
      _ = lines[request.id.profile, default: Line()].append(request)
    }
    for profile in lines.keys {
      lines[profile]?.since = now.uptime
      lines[profile]?.begin(now)
    }
    return resumeAll(now)
  }

  private mutating func add(_ request: QueuedRequest, _ now: Moment) -> [Action] {
    lastNumber = max(lastNumber, request.id.number)
    let profile = request.id.profile
    guard lines[profile, default: Line()].append(request) else { return [] }
    lines[profile]?.since = now.uptime
    if lines[profile]?.waitingCount == 1 { lines[profile]?.begin(now) }
    return look(at: profile, now)
  }

  private mutating func cancel(_ id: QueuedRequest.ID, _ now: Moment) -> [Action] {
    guard let request = lines[id.profile]?[id] else { return [] }
    guard !request.hasEnded else {
      // It is written again: who has cancelled it before may have been told that it could not be.
      return request.stage == .failed(.cancelled) ? [.keep(request, .gone, nil)] : []
    }
    guard lines[id.profile]?.rest == .underWay, lines[id.profile]?.head?.id == id else {
      return end(id, .failed(.cancelled), nil, now)
    }
    lines[id.profile]?.before?.isCancelled = true
    return lines[id.profile]?.update(id) { $0.isCancelled = true }.map { [.keep($0, nil, nil)] } ?? []
  }

  private mutating func remove(_ ids: [QueuedRequest.ID], _ now: Moment) -> [Action] {
    leaving.subtract(ids)
    for id in ids {
      let wasHead = lines[id.profile]?.head?.id == id
      lines[id.profile]?.remove(id)
      if wasHead { lines[id.profile]?.begin(now) }
      if lines[id.profile]?.isEmpty == true { lines[id.profile] = nil }
    }
    return lookAtAll(now)
  }

  // MARK: Time

  private mutating func resumeAll(_ now: Moment) -> [Action] {
    for profile in lines.keys {
      if case .paused = lines[profile]?.rest { lines[profile]?.rest = .ready }
    }
    return lookAtAll(now)
  }

  private mutating func lookAtAll(_ now: Moment) -> [Action] {
    wakeBound = nil
    return lines.keys.sorted().flatMap { look(at: $0, now) }
  }

  /// Begins the attempt of a line's first request where it is due, and forgets what has ended long ago.
  mutating func look(at profile: ProfileName, _ now: Moment) -> [Action] {
    guard isOpen, let rules = rules[profile], lines[profile] != nil else { return [] }
    let old = lines[profile]?.takeOld(at: now.wall, by: rules) ?? []
    var actions: [Action] = old.isEmpty ? [] : [.forget(old)]
    if lines[profile]?.isEmpty == true { lines[profile] = nil }
    if lines[profile]?.isDue(at: now.uptime) == true, let head = lines[profile]?.head, !leaving.contains(head.id) {
      if let first = lines[profile]?.firstAttempt, now.uptime - first >= rules.keyLifetime {
        let failure: RequestFailure = head.mayHaveActed ? .outcomeUnknown : .rateLimited
        return actions + end(head.id, .failed(failure), nil, now)
      }
      if let sent = lines[profile]?.beginAttempt(of: head, now) { actions.append(.attempt(sent)) }
    }
    noteWake(of: profile)
    return actions
  }

  /// Notes when a line wants to be woken.
  mutating func noteWake(of profile: ProfileName) {
    switch lines[profile]?.rest {
    case .until(let time), .paused(_, let time): wakeBound = min(wakeBound ?? time, time)
    case .ready, .underWay, nil: break
    }
  }
}
