import BrokerProtocol
import SecretMemory

/// The opening and closing of what waits for servers: tokens that are to be revoked, and requests of clients.
extension Broker {
  /// Takes up what rests in the store.
  func openQueues(_ contents: StoreContents) {
    handle(.opened(contents.revocations))
    handle(.opened(contents.requests))
    // Behind it: which profiles without rules have requests is known then.
    configureRequestQueue()
  }

  /// Begins nothing any more.
  func closeQueues() {
    handle(RevocationQueue.Event.closed)
    handle(RequestQueue.Event.closed)
  }

  /// Forgets everything that the store has.
  func dropQueues() {
    handle(RevocationQueue.Event.dropped)
    handle(RequestQueue.Event.dropped)
  }

  /// Tells the queues which profiles there are.
  func configureQueues() {
    configureRevocations()
    configureRequestQueue()
  }

  /// Tells the queue of requests which profiles have some, and lets it look again at what waited for the owner.
  func configureRequestQueue() {
    var rules: [ProfileName: RequestQueue.Rules] = [:]
    for slot in slots { rules[slot.name] = slot.requests?.rules.queue }
    // Those of a profile without rules are refused by them.
    for slot in slots where rules[slot.name] == nil && queued.waiting(of: slot.name) > 0 {
      rules[slot.name] = .standard
    }
    handle(.configured(rules))
  }

  /// Begins to forget the queued requests of a user who is about to be logged out, where the profile says so.
  ///
  /// All are meant where it is not known who that is. They go with the record of the session.
  func leaveRequests(of slot: ProfileSlot) {
    guard slot.requests?.rules.queue.outliveLogout == false else { return }
    // There is no session, and no record is written.
    if case .signedOut = slot.machine.phase, !slot.machine.isSigningIn { return }
    let users = (slot.machine.living ?? slot.machine.sessionInUse(at: now)).map { self.owners(of: $0, on: slot) }
    let ending = queued.requests(of: slot.name).filter { users?.contains($0.user) ?? true }
    handle(.leaving(ending.map(\.id)))
  }

  /// The users to whom a request of a session belongs, the one of its next request first.
  ///
  /// Where no user is named, another login may be another user's: the request belongs to that login. There is no login where
  /// there is a grant.
  func owners(of session: LivingSession, on slot: ProfileSlot) -> [String?] {
    guard slot.provider.capabilities.grant == nil else { return [nil] }
    let login = "login \(session.authTime.milliseconds)"
    return session.user.map { [$0.id, login] } ?? [login]
  }
}

/// Sending queued requests.
extension Broker {
  /// Passes an event to the queue, and carries out its actions.
  func handle(_ event: RequestQueue.Event) { run(queued.handle(event, at: now)) }

  /// Carries out the queue's actions, and sets its next wake-up; then goes on once the first of them is durable, or has
  /// failed.
  func run(
    _ actions: [RequestQueue.Action], then go: (@Sendable (isolated Broker, StoreFailure?) -> Void)? = nil
  ) {
    var go = go
    for action in actions {
      switch action {
      case .attempt(let request): attempt(request)
      case .keep(let request, let contents, let event):
        let settled = go.take()
        change(
          StoreChange(
            .note, [.keepRequest(request, contents)], telling: event.map { [$0] } ?? [], of: request.id.profile),
          then: .request { broker, failure in
            if failure != nil {
              broker.queued.noteUnkept(request, contents)
            } else {
              broker.queued.settleUnkept([.keepRequest(request, contents)])
            }
            settled?(broker, failure)
          })
      case .forget(let ids):
        change(StoreChange(.note, ids.map { .forgetRequest($0) }, of: ids.first?.profile))
      case .tell(let profile, let event): publish(event, profile: profile)
      }
    }
    queued.setWake { uptime in schedule(at: uptime) { $0.handle(RequestQueue.Event.woken) } }
    go?(self, nil)
  }

  private func attempt(_ request: QueuedRequest) {
    let attempt = QueuedAttempt(request: request, opening: queued.opening)
    guard let slot = slot(named: request.id.profile) else { return end(attempt, .unsent(.closing)) }
    if let obstacle = obstacle(for: request, on: slot) { return end(attempt, .unsent(obstacle)) }
    let wanted = GetAccessToken.Params(profile: slot.name, scopes: request.scopes, audience: request.audience)
    withAccessToken(wanted) { broker, result in
      if let error = result.failure { return broker.end(attempt, broker.outcome(of: error)) }
      guard let slot = broker.slot(named: request.id.profile) else { return broker.end(attempt, .unsent(.closing)) }
      broker.learnAddresses(of: slot.id) { $0.readContents(for: attempt) }
    }
  }

  /// The reason why a request is not the present session's to send; nil where it is.
  private func obstacle(for request: QueuedRequest, on slot: ProfileSlot) -> RequestQueue.Obstacle? {
    guard slot.provider.binding == request.binding else { return .paused(.otherUser) }
    guard let living = slot.machine.living else {
      return slot.provider.capabilities.grant == nil ? .paused(.loginRequired) : nil
    }
    return owners(of: living, on: slot).contains(request.user) ? nil : .paused(.otherUser)
  }

  private func readContents(for attempt: QueuedAttempt) {
    let request = attempt.request
    askStore { store throws(StoreFailure) in
      try await store.contents(of: request.id)
    } then: { broker, result in
      switch result {
      case .success(.request(let headers, let body)):
        guard let sent = APIRequest(request, headers, body: body) else {
          return broker.end(attempt, .failed(.invalidParams))
        }
        broker.mark(attempt, sent)
      case .success, .failure(.tampered): broker.end(attempt, .failed(.vaultTampered))
      case .failure(.locked): broker.end(attempt, .unsent(.closing))
      case .failure: broker.end(attempt, .unsent(.passing(retryAfter: nil)))
      }
    }
  }

  /// Makes durable that the request may have been sent, then sends it.
  private func mark(_ attempt: QueuedAttempt, _ sent: APIRequest) {
    // It may have been cancelled, or be about to be forgotten, since the attempt has begun.
    guard let present = queued.sendable(attempt) else { return end(attempt, .unsent(.closing)) }
    let ends = queued.keepingUnkept(of: present.id.profile)
    change(
      StoreChange(.record, ends + [.keepRequest(present, nil)], of: present.id.profile),
      then: .request { broker, failure in
        guard failure == nil else { return broker.end(attempt, .unsent(.passing(retryAfter: nil))) }
        broker.queued.settleUnkept(ends)
        // The end of the one before may have been refused meanwhile.
        guard broker.queued.keepingUnkept(of: present.id.profile).isEmpty else { return broker.mark(attempt, sent) }
        broker.send(sent, for: attempt, isRetry: false)
      })
  }

  private func send(_ sent: APIRequest, for attempt: QueuedAttempt, isRetry: Bool) {
    let request = attempt.request
    guard vault.isOpen, queued.sendable(attempt) != nil, let slot = slot(named: request.id.profile) else {
      return end(attempt, .unsent(.closing), isMarked: true)
    }
    if let obstacle = obstacle(for: request, on: slot) { return end(attempt, .unsent(obstacle), isMarked: true) }
    // The rules may be others than when it was queued.
    do throws(BrokerError) { try judge(sent, on: slot) } catch { return end(attempt, .failed(.accessDenied)) }
    let target = (try? target(request.scopes, request.audience, on: slot)) ?? nil
    guard let loan = token(of: slot, for: target), let sender = slot.requests?.sender else {
      return end(attempt, .unsent(.paused(.loginRequired)), isMarked: true)
    }
    inBackground(.spent) {
      let result = await Self.answer(to: sent, for: request.id.profile, with: loan, by: sender)
      return { broker in broker.take(result, of: attempt, sent, loan.token, isRetry) }
    }
  }

  private func take(
    _ result: Result<APIAnswer, ProviderFailure>, of attempt: QueuedAttempt, _ sent: APIRequest, _ token: BoundToken,
    _ isRetry: Bool
  ) {
    let request = attempt.request
    let answer: APIAnswer
    switch result {
    case .success(let given): answer = given
    case .failure(.outcomeUnknown): return end(attempt, .lost)
    case .failure(.refused): return end(attempt, .failed(.invalidParams))
    case .failure(.rejected): return end(attempt, .failed(.invalidResponse))
    case .failure(let failure):
      return end(attempt, .unsent(.passing(retryAfter: failure.retryAfter)), isMarked: true)
    }
    if answer.status == 403, let slot = slot(named: request.id.profile) { publishRefusal(403, on: slot) }
    guard answer.status == 401, !isRetry else { return end(attempt, .answered(answer), isMarked: true) }
    let report = ReportRejected.Params(
      profile: request.id.profile, accessToken: token.value, scopes: request.scopes, audience: request.audience,
      challenge: answer.headers["www-authenticate"])
    withToken(insteadOf: report) { broker, replaced in
      if let error = replaced.failure { return broker.end(attempt, broker.outcome(of: error), isMarked: true) }
      broker.send(sent, for: attempt, isRetry: true)
    }
  }

  private func end(_ attempt: QueuedAttempt, _ outcome: RequestQueue.Outcome, isMarked: Bool = false) {
    guard attempt.opening == queued.opening else { return }
    handle(.attempted(attempt.request.id, outcome, isMarked: isMarked, jitter: entropy.fraction()))
  }

  /// The end of an attempt for which there is no token.
  private func outcome(of error: BrokerError) -> RequestQueue.Outcome {
    switch error.kind {
    case .loginRequired, .sessionExpired, .reauthRequired, .refreshOutcomeUnknown, .missingCredential,
      .challengePending:
      .unsent(.paused(.loginRequired))
    case .vaultLocked, .shuttingDown, .unknownProfile: .unsent(.closing)
    case .insufficientScope, .unsupportedByProvider, .unknownTarget: .failed(.insufficientScope)
    default: .unsent(.passing(retryAfter: error.retryAfter))
    }
  }
}
