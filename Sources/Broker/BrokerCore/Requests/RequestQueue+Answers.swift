import BrokerProtocol

/// The ends of attempts, and what becomes of a line then.
extension RequestQueue {
  /// Takes in how an attempt has ended.
  mutating func take(
    _ outcome: Outcome, of id: QueuedRequest.ID, _ isMarked: Bool, _ jitter: Double, _ now: Moment
  ) -> [Action] {
    guard let index = index(of: id), var line = lines[id.profile], line.head == index, line.rest == .underWay else {
      return []
    }
    switch outcome {
    case .failed(let failure): return end(id, .failed(failure), nil, now)
    case .unsent(let obstacle): return unsent(obstacle, id, isMarked, jitter, now)
    case .lost:
      line.entries[index].mayHaveActed = true
      lines[id.profile] = line
      return again(id, retryAfter: nil, jitter, now)
    case .answered(let answer):
      if answer.status == 401 { return unsent(.paused(.unauthorized), id, isMarked, jitter, now) }
      let isServerError = answer.status >= 500
      line.entries[index].serverErrors += isServerError ? 1 : 0
      let isLast = isServerError && line.entries[index].serverErrors >= Self.mostServerErrors
      guard [408, 409, 425, 429].contains(answer.status) || isServerError, !isLast, !line.entries[index].isCancelled
      else { return end(id, .completed(status: answer.status), answer, now) }
      // Whether something was done is said by neither a failure nor a conflict; what comes too early or too often was not.
      if ![425, 429].contains(answer.status) { line.entries[index].mayHaveActed = true }
      lines[id.profile] = line
      return again(id, retryAfter: answer.retryAfter, jitter, now)
    }
  }

  /// Nothing was sent: the first attempt is still to come, where it was to be this one.
  private mutating func unsent(
    _ obstacle: Obstacle, _ id: QueuedRequest.ID, _ isMarked: Bool, _ jitter: Double, _ now: Moment
  ) -> [Action] {
    guard let index = index(of: id), var line = lines[id.profile] else { return [] }
    if let before = line.before {
      line.entries[index] = before
      if before.firstAttemptAt == nil { line.firstAttempt = nil }
    }
    line.entries[index].stage = .waiting
    line.before = nil
    guard !line.entries[index].isCancelled else {
      lines[id.profile] = line
      return end(id, .failed(.cancelled), nil, now)
    }
    var actions: [Action] = isMarked ? [.keep(line.entries[index], nil, nil)] : []
    switch obstacle {
    case .closing: line.rest = .ready
    case .passing(let retryAfter):
      line.failures += 1
      line.rest = .until(
        now.uptime + Backoff.delay(afterFailures: line.failures, jitter: jitter, floor: retryAfter))
    case .paused(let pause):
      line.rest = .paused(pause, until: now.uptime + Self.pause)
      if line.told.map({ $0 != (id, pause) }) ?? true {
        line.told = (id, pause)
        let event = QueuePausedEvent(requestID: line.entries[index].requestID, reason: pause)
        actions.append(.tell(id.profile, .queuePaused(event)))
      }
    }
    lines[id.profile] = line
    if isOpen { noteWake(of: line) }
    return actions
  }

  /// It is sent again, with the same key, unless the API may not know that any more.
  private mutating func again(
    _ id: QueuedRequest.ID, retryAfter: Duration?, _ jitter: Double, _ now: Moment
  ) -> [Action] {
    guard let index = index(of: id), var line = lines[id.profile] else { return [] }
    guard !line.entries[index].isCancelled else { return end(id, .failed(.cancelled), nil, now) }
    line.entries[index].stage = .waiting
    line.before = nil
    line.failures += 1
    line.rest = .until(now.uptime + Backoff.delay(afterFailures: line.failures, jitter: jitter, floor: retryAfter))
    lines[id.profile] = line
    return [.keep(line.entries[index], nil, nil)] + look(at: id.profile, now)
  }

  /// Ends a request.
  mutating func end(
    _ id: QueuedRequest.ID, _ stage: QueuedRequest.Stage, _ answer: APIAnswer?, _ now: Moment
  ) -> [Action] {
    guard let index = index(of: id), var line = lines[id.profile] else { return [] }
    let wasHead = line.head == index
    line.entries[index].stage = stage
    line.entries[index].endedAt = now.wall
    if let answer { line.entries[index].byteCount = answer.body.count }
    let request = line.entries[index]
    if wasHead { line.begin(now) }
    lines[id.profile] = line
    return [.keep(request, answer, request.event)] + look(at: id.profile, now)
  }
}

extension RequestQueue.Line {
  /// Begins with the next request: after a start, one whose answer was awaited may have been acted on.
  mutating func begin(_ now: Moment) {
    (rest, failures, before, firstAttempt) = (.ready, 0, nil, nil)
    guard let head else { return }
    if entries[head].stage == .sending {
      entries[head].stage = .waiting
      entries[head].mayHaveActed = true
    }
    guard let first = entries[head].firstAttemptAt else { return }
    // A clock that was set back makes it no younger than it was queued.
    firstAttempt = now.uptime - max(now.wall - first, .zero)
  }

  /// Whether the first request is to be attempted.
  func isDue(at uptime: Duration) -> Bool {
    switch rest {
    case .ready: head != nil
    case .underWay: false
    case .until(let time), .paused(_, let time): head != nil && time <= uptime
    }
  }

  /// The requests that have ended so long ago that no API knows their keys, and the oldest of too many.
  func ended(toForgetAt wall: Timestamp, by rules: RequestQueue.Rules) -> [QueuedRequest.ID] {
    let ended = entries.filter(\.hasEnded)
    let tooMany = ended.count - rules.mostEntries
    return ended.enumerated().compactMap { index, entry in
      let isOld = entry.endedAt.map { wall - $0 >= rules.keyLifetime } ?? true
      return index < tooMany || isOld ? entry.id : nil
    }
  }
}

extension QueuedRequest {
  /// The event that tells of its end.
  fileprivate var event: EventPayload? {
    switch stage {
    case .completed(let status): .requestCompleted(RequestCompletedEvent(requestID: requestID, status: status))
    case .failed(let kind): .requestFailed(RequestFailedEvent(requestID: requestID, kind: kind))
    case .waiting, .sending: nil
    }
  }
}
