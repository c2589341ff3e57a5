import BrokerProtocol

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
  /// Wakes the queue.
  private var wake: (uptime: Duration, timer: TimerCancellation)?

  /// Lets the queue decide.
  ///
  /// - Returns: what is to be done, in order.
  mutating func handle(_ event: RequestQueue.Event, at now: Moment) -> [RequestQueue.Action] {
    if case .woken = event { wake = nil }
    return queue.handle(event, at: now)
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

  /// How many requests of a profile wait.
  func waiting(of profile: ProfileName) -> Int {
    queue.waiting(of: profile) + entering.count { $0.request.id.profile == profile }
  }

  /// How many bytes all contents have, or are about to have.
  var byteCount: Int { queue.byteCount + entering.reduce(0) { $0 + $1.request.byteCount } }

  /// Takes in a request that is being made durable for a caller.
  mutating func enter(_ request: QueuedRequest, for caller: Caller<QueueRequest.Result>) {
    entering.append(Entering(request: request, callers: [caller]))
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
