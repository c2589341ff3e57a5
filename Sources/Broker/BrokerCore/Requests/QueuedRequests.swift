import BrokerProtocol

/// An attempt to send a request, as it was when that began.
struct QueuedAttempt {
  /// The request.
  let request: QueuedRequest
  /// The opening of the store in which it began: what comes of it after the next one changes nothing, as the request is sent
  /// again from there on.
  let opening: Int
}

/// The queue of requests, those that are being made durable, and its timer.
struct QueuedRequests {
  /// A request that is being made durable.
  struct Entering {
    /// The request.
    let request: QueuedRequest
    /// The callers that wait for it: those that have queued the same one.
    var callers: [Caller<QueueRequest.Result>]
  }

  /// Decides when they are sent.
  private(set) var queue = RequestQueue()
  /// The requests that are being made durable, in their order.
  private(set) var entering: [Entering] = []
  /// Requests that were refused to their callers, as the store has reported an error: it may have kept them all the same.
  private var doubtful: [QueuedRequest.ID] = []
  /// Requests that have ended, or are cancelled, and of which the store could not keep that.
  private var unkept: [QueuedRequest.ID: QueuedContents?] = [:]
  /// Counts the openings of the store.
  private(set) var opening = 0
  /// Wakes the queue.
  private var wake: (uptime: Duration, timer: TimerCancellation)?

  /// Lets the queue decide.
  ///
  /// - Returns: what is to be done, in order.
  mutating func handle(_ event: RequestQueue.Event, at now: Moment) -> [RequestQueue.Action] {
    if case .woken = event { wake = nil }
    // What the store has kept is in the line when it is opened again.
    if case .dropped = event { (doubtful, unkept, opening) = ([], [:], opening + 1) }
    return queue.handle(event, at: now)
  }

  /// The request of an attempt as it is, where it may be sent.
  func sendable(_ attempt: QueuedAttempt) -> QueuedRequest? {
    attempt.opening == opening ? queue.sendable(attempt.request.id) : nil
  }

  /// Sets the timer by which the queue is to be woken, unless it is set for that; `schedule` makes one.
  mutating func setWake(_ schedule: (Duration) -> TimerCancellation) {
    guard wake?.uptime != queue.nextWake else { return }
    wake?.timer.cancel()
    wake = queue.nextWake.map { ($0, schedule($0)) }
  }

  /// A name for the next request of a profile.
  mutating func nextID(of profile: ProfileName) -> QueuedRequest.ID { queue.nextID(of: profile) }

  /// The request that has a key already, of those that came the same way.
  func request(of profile: ProfileName, key: String, socket: String?) -> QueuedRequest? {
    queue.request(of: profile, key: key, socket: socket)
      ?? entering.map(\.request).first { $0.id.profile == profile && $0.key == key && $0.socket == socket }
  }

  /// The requests of a profile, with those that are being made durable.
  func requests(of profile: ProfileName) -> [QueuedRequest] {
    queue.requests(of: profile) + entering.map(\.request).filter { $0.id.profile == profile }
  }

  /// How many requests of a profile wait.
  func waiting(of profile: ProfileName) -> Int {
    queue.waiting(of: profile) + entering.count { $0.request.id.profile == profile }
  }

  /// How many bytes the contents of all that wait have, or are about to have.
  var byteCount: Int { queue.byteCount + entering.reduce(0) { $0 + $1.request.byteCount } }

  /// Takes in a request that is being made durable for a caller.
  mutating func enter(_ request: QueuedRequest, for caller: Caller<QueueRequest.Result>) {
    entering.append(Entering(request: request, callers: [caller]))
  }

  /// Notes that the store has reported an error for a request that its callers are refused: the next one that is
  /// kept forgets it.
  mutating func doubt(_ id: QueuedRequest.ID) { doubtful.append(id) }

  /// The steps that forget the requests of a profile that were refused.
  func forgettingDoubtful(of profile: ProfileName) -> [StoreStep] {
    doubtful.filter { $0.profile == profile }.map { .forgetRequest($0) }
  }

  /// Takes in that these steps are durable.
  mutating func settleDoubt(_ steps: [StoreStep]) {
    for case .forgetRequest(let id) in steps { doubtful.removeAll { $0 == id } }
  }

  /// Notes that the store could not keep what became of a request.
  mutating func noteUnkept(_ request: QueuedRequest, _ contents: QueuedContents?) {
    if request.hasEnded || request.isCancelled { unkept[request.id] = contents }
  }

  /// The steps that keep the ends of a profile's requests of which the store could not do so: before the next one is sent, as it
  /// would be sent after that one otherwise, with the next start.
  func keepingUnkept(of profile: ProfileName) -> [StoreStep] {
    unkept.filter { $0.key.profile == profile }.compactMap { id, contents in
      queue.present(id).map { .keepRequest($0, contents) }
    }
  }

  /// Takes in that these steps are durable: an end whose contents the store has, or that is forgotten.
  mutating func settleUnkept(_ steps: [StoreStep]) {
    for step in steps {
      switch step {
      case .keepRequest(let request, let contents):
        if contents != nil || unkept[request.id] == .some(nil) { unkept[request.id] = nil }
      case .forgetRequest(let id): unkept[id] = nil
      default: break
      }
    }
  }

  /// Lets a caller wait for a request that is being made durable.
  ///
  /// - Returns: whether it is; else it is durable already.
  mutating func join(_ caller: Caller<QueueRequest.Result>, to id: QueuedRequest.ID) -> Bool {
    guard let index = entering.firstIndex(where: { $0.request.id == id }) else { return false }
    entering[index].callers.append(caller)
    return true
  }

  /// Takes out a request that is durable, or could not be made so.
  mutating func leave(_ id: QueuedRequest.ID) -> Entering? {
    entering.firstIndex { $0.request.id == id }.map { entering.remove(at: $0) }
  }
}
