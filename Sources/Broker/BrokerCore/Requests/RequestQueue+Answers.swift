import BrokerProtocol

/// The ends of attempts, and what becomes of a line then.
extension RequestQueue {
  /// Takes in how an attempt has ended.
  mutating func take(
    _ outcome: Outcome, of id: QueuedRequest.ID, _ isMarked: Bool, _ jitter: Double, _ now: Moment
  ) -> [Action] {
    guard let head = lines[id.profile]?.head, head.id == id, lines[id.profile]?.rest == .underWay else { return [] }
    switch outcome {
    case .failed(let failure): return end(id, .failed(failure), nil, now)
    case .unsent(let obstacle): return unsent(obstacle, id, isMarked, jitter, now)
    case .lost:
      lines[id.profile]?.update(id) { $0.mayHaveActed = true }
      return again(id, retryAfter: nil, jitter, now)
    case .answered(let answer):
      if answer.status == 401 { return unsent(.paused(.unauthorized), id, isMarked, jitter, now) }
      let isServerError = answer.status >= 500
      let isLast = isServerError && head.serverErrors + 1 >= Self.mostServerErrors
      guard [408, 409, 425, 429].contains(answer.status) || isServerError, !isLast, !head.isCancelled else {
        return end(id, .completed(status: answer.status), answer, now)
      }
      lines[id.profile]?.update(id) { request in
        request.serverErrors += isServerError ? 1 : 0
        // Whether something was done is said by neither a failure nor a conflict; what comes too early or too often was not.
        if ![425, 429].contains(answer.status) { request.mayHaveActed = true }
      }
      return again(id, retryAfter: answer.retryAfter, jitter, now)
    }
  }

  /// Nothing was sent: the first attempt is still to come, where it was to be this one.
  private mutating func unsent(
    _ obstacle: Obstacle, _ id: QueuedRequest.ID, _ isMarked: Bool, _ jitter: Double, _ now: Moment
  ) -> [Action] {
    let before = lines[id.profile]?.before
    if let before, before.firstAttemptAt == nil { lines[id.profile]?.firstAttempt = nil }
    lines[id.profile]?.before = nil
    let restored = lines[id.profile]?.update(id) { request in
      request = before ?? request
      request.stage = .waiting
    }
    guard let request = restored else { return [] }
    guard !request.isCancelled else { return end(id, .failed(.cancelled), nil, now) }
    var actions: [Action] = isMarked ? [.keep(request, nil, nil)] : []
    switch obstacle {
    case .closing: lines[id.profile]?.rest = .ready
    case .passing(let retryAfter): backOff(id.profile, retryAfter, jitter, now)
    case .paused(let pause):
      lines[id.profile]?.rest = .paused(pause, until: now.uptime + Self.pause)
      if lines[id.profile]?.told.map({ $0 != (id, pause) }) ?? true {
        lines[id.profile]?.told = (id, pause)
        let event = QueuePausedEvent(requestID: request.requestID, reason: pause)
        actions.append(.tell(id.profile, .queuePaused(event)))
      }
    }
    if isOpen { noteWake(of: id.profile) }
    return actions
  }

  private mutating func backOff(_ profile: ProfileName, _ retryAfter: Duration?, _ jitter: Double, _ now: Moment) {
    let failures = (lines[profile]?.failures ?? 0) + 1
    lines[profile]?.failures = failures
    lines[profile]?.rest = .until(
      now.uptime + Backoff.delay(afterFailures: failures, jitter: jitter, floor: retryAfter))
  }

  /// It is sent again, with the same key, unless the API may not know that any more.
  private mutating func again(
    _ id: QueuedRequest.ID, retryAfter: Duration?, _ jitter: Double, _ now: Moment
  ) -> [Action] {
    guard lines[id.profile]?[id]?.isCancelled == false else { return end(id, .failed(.cancelled), nil, now) }
    lines[id.profile]?.before = nil
    backOff(id.profile, retryAfter, jitter, now)
    let kept = lines[id.profile]?.update(id) { $0.stage = .waiting }
    return (kept.map { [.keep($0, nil, nil)] } ?? []) + look(at: id.profile, now)
  }

  /// Ends a request.
  mutating func end(
    _ id: QueuedRequest.ID, _ stage: QueuedRequest.Stage, _ answer: APIAnswer?, _ now: Moment
  ) -> [Action] {
    let wasHead = lines[id.profile]?.head?.id == id
    let ended = lines[id.profile]?.update(id) { request in
      (request.stage, request.endedAt) = (stage, now.wall)
      if let answer { request.byteCount = answer.body.count }
    }
    guard let request = ended else { return [] }
    if wasHead { lines[id.profile]?.begin(now) }
    return [.keep(request, answer, request.event)] + look(at: id.profile, now)
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
