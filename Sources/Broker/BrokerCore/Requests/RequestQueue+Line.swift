import BrokerProtocol

extension RequestQueue {
  /// The present occupation of a line.
  enum Rest: Sendable, Equatable {
    /// Nothing keeps its first request back.
    case ready
    /// Its first request is under way.
    case underWay
    /// Its first request is tried again then.
    case until(Duration)
    /// It waits for its owner, and looks again then.
    case paused(QueuePause, until: Duration)
  }

  /// The requests of a profile: what is asked of them and changed in one takes as long in a line of ten thousand as in one of two.
  struct Line: Sendable {
    /// The feature by which a client's request is known again.
    private struct Key: Hashable {
      let key: String
      let socket: String?
    }

    private var entries: [UInt64: QueuedRequest] = [:]
    private var waiting = NumberLine()
    private var ended = NumberLine()
    private var numbers: [Key: UInt64] = [:]
    /// How many bytes their contents have in the store.
    private(set) var byteCount = 0
    /// The present occupation.
    var rest = Rest.ready
    /// How many attempts of the first request in a row have not ended it.
    var failures = 0
    /// The request for whose line a pause was told last, and why.
    var told: (QueuedRequest.ID, QueuePause)?
    /// When the first request was first sent, in uptime; nil where it was not.
    var firstAttempt: Duration?
    /// The first request as it was before the attempt under way.
    var before: QueuedRequest?
    /// Since when this process knows of something to do.
    var since = Duration.zero

    /// The first request that has not ended.
    var head: QueuedRequest? { waiting.first.flatMap { entries[$0] } }
    /// How many have not ended.
    var waitingCount: Int { waiting.count }
    /// Whether there is none.
    var isEmpty: Bool { entries.isEmpty }
    /// All of them, in no order.
    var values: some Sequence<QueuedRequest> { entries.values }

    /// A request.
    subscript(id: QueuedRequest.ID) -> QueuedRequest? { entries[id.number] }

    /// The request that has a key already, of those that came the same way.
    func request(key: String, socket: String?) -> QueuedRequest? {
      numbers[Key(key: key, socket: socket)].flatMap { entries[$0] }
    }

    /// Takes in a request behind the others, unless it is there.
    ///
    /// - Returns: whether it was taken in.
    mutating func append(_ request: QueuedRequest) -> Bool {
      guard entries[request.id.number] == nil else { return false }
      entries[request.id.number] = request
      numbers[Key(key: request.key, socket: request.socket)] = request.id.number
      byteCount += request.byteCount
      request.hasEnded ? ended.append(request.id.number) : waiting.append(request.id.number)
      return true
    }

    /// Changes a request.
    ///
    /// - Returns: the request as it is then; nil where it is not there.
    @discardableResult
    mutating func update(_ id: QueuedRequest.ID, _ change: (inout QueuedRequest) -> Void) -> QueuedRequest? {
      guard var request = entries[id.number] else { return nil }
      let (hadEnded, bytes) = (request.hasEnded, request.byteCount)
      change(&request)
      entries[id.number] = request
      byteCount += request.byteCount - bytes
      if request.hasEnded, !hadEnded {
        waiting.remove(id.number)
        ended.append(id.number)
      }
      return request
    }

    /// Takes out a request.
    mutating func remove(_ id: QueuedRequest.ID) {
      guard let request = entries.removeValue(forKey: id.number) else { return }
      byteCount -= request.byteCount
      let key = Key(key: request.key, socket: request.socket)
      if numbers[key] == id.number { numbers[key] = nil }
      request.hasEnded ? ended.remove(id.number) : waiting.remove(id.number)
    }

    /// Begins with the next request: after a start, one whose answer was awaited may have been acted on.
    mutating func begin(_ now: Moment) {
      (rest, failures, before, firstAttempt) = (.ready, 0, nil, nil)
      guard let head else { return }
      if head.stage == .sending {
        update(head.id) { ($0.stage, $0.mayHaveActed) = (.waiting, true) }
      }
      // A clock that was set back makes it no younger than it was queued.
      firstAttempt = head.firstAttemptAt.map { now.uptime - max(now.wall - $0, .zero) }
    }

    /// Begins an attempt of the first request.
    ///
    /// - Returns: the request as it is to be durable before its first byte leaves.
    mutating func beginAttempt(of head: QueuedRequest, _ now: Moment) -> QueuedRequest? {
      before = head
      firstAttempt = firstAttempt ?? now.uptime
      rest = .underWay
      return update(head.id) { request in
        request.stage = .sending
        request.attempts += 1
        request.firstAttemptAt = request.firstAttemptAt ?? now.wall
      }
    }

    /// Whether the first request is to be attempted.
    func isDue(at uptime: Duration) -> Bool {
      switch rest {
      case .ready: waiting.count > 0
      case .underWay: false
      case .until(let time), .paused(_, let time): waiting.count > 0 && time <= uptime
      }
    }

    /// Takes out the requests that have ended so long ago that no API knows their keys, and the oldest of too many.
    mutating func takeOld(at wall: Timestamp, by rules: Rules) -> [QueuedRequest.ID] {
      var old: [QueuedRequest.ID] = []
      while let number = ended.first, let request = entries[number] {
        let isOld = request.endedAt.map { wall - $0 >= rules.keyLifetime } ?? true
        guard isOld || ended.count > rules.mostEntries else { break }
        old.append(request.id)
        remove(request.id)
      }
      return old
    }
  }

  /// Numbers in a row, of which the first ones go first.
  private struct NumberLine {
    private var numbers: [UInt64] = []
    private var start = 0

    var first: UInt64? { start < numbers.count ? numbers[start] : nil }
    var count: Int { numbers.count - start }

    mutating func append(_ number: UInt64) { numbers.append(number) }

    mutating func remove(_ number: UInt64) {
      guard first == number else {
        if let place = numbers[start...].firstIndex(of: number) { numbers.remove(at: place) }
        return
      }
      start += 1
      // Each number is moved once at most for each that has gone.
      guard start > numbers.count / 2 else { return }
      numbers.removeFirst(start)
      start = 0
    }
  }
}
