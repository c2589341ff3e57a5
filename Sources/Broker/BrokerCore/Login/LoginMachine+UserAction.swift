import BrokerProtocol

/// Waiting for a user action in a browser or at a device.
extension LoginMachine {
  /// How much longer the interval becomes each time that the provider wants it to (RFC 8628, section 3.5).
  private static let slowDownStep = Duration.seconds(5)
  /// The longest pause after failures, whatever the provider wishes: short beside the minutes that such a login lives.
  private static let longestPause = Duration.seconds(30)

  /// How long to wait between two polls.
  var interval: Duration { login.step.action?.interval ?? ProviderUserAction.standardInterval }

  /// The least time between the event that a login waits and the one that reminds of it: its user may just be at it.
  private static let shortestReminder = Duration.seconds(60)

  /// Plans the one reminder, at half of the time that is left, unless it was sent.
  mutating func planReminder(_ now: Moment) {
    let rest = login.expiresAt - now.wall
    let delay = max(rest / 2, Self.shortestReminder)
    reminder = login.isReminded || delay >= rest ? nil : now.uptime + delay
  }

  /// Reminds the user of the login, once: also over restarts, since the event and that it was sent are one change.
  mutating func remind(_ now: Moment) -> [Action] {
    guard let due = reminder, due <= now.uptime, case .action(var action) = login.step else { return [] }
    reminder = nil
    login.isReminded = true
    action.reminder = true
    return [.keep([.loginPending(action)])]
  }

  /// Waits for the time of the next poll.
  mutating func rest(_ slowsDown: Bool, _ now: Moment) -> [Action] {
    guard case .polling = state else { return [] }
    if let actions = endIfOver(now) { return actions }
    if slowsDown, case .action(var action) = login.step {
      action.interval = interval + Self.slowDownStep
      login.step = .action(action)
    }
    state = .resting(until: now.uptime + interval, failures: 0)
    return slowsDown ? [.keep([])] : []
  }

  /// Has the session saved, if it is the expected user's; the user action counts once.
  ///
  /// A session that comes for a login which has ended meanwhile is revoked.
  mutating func finishAction(_ proof: SessionProof, _ now: Moment) -> [Action] {
    switch proof {
    case .given: return acceptAction()
    case .otherUser: return [.revoke] + failAction(.refused(.accessDenied), now)
    case .replacesAnother: return [.revoke] + keepSession()
    case .unknown(let failure): return [.revoke] + endUnproven(failure)
    }
  }

  private mutating func acceptAction() -> [Action] {
    switch state {
    case .polling, .resting:
      state = .accepting
      return [.accept(callers: [])]
    case .listening:
      state = .accepting
      return [.stopListening, .accept(callers: [])]
    case .idle, .awaitingCode, .checkingCode, .accepting, .over: return [.revoke]
    }
  }

  /// Ends the login whose session would have replaced another user's.
  private mutating func keepSession() -> [Action] {
    switch state {
    case .listening, .polling: end(.keepsSession, isTold: true)
    case .idle, .awaitingCode, .checkingCode, .resting, .accepting, .over: []
    }
  }

  /// Handles a failed wait: puts off the next poll, twice as long each time (RFC 8628, section 3.5), or ends a browser
  /// login, since a browser comes back only once.
  mutating func failAction(_ failure: ProviderFailure, _ now: Moment) -> [Action] {
    switch state {
    case .listening:
      // The provider has cancelled the wait by itself: a later login has its place, and tells so.
      if case .transient(.cancelled, _, _) = failure { return end(.replaced, isTold: false) }
      return end(LoginEnd(actionFailed: failure), isTold: true)
    case .polling(let failures): return failPoll(failure, failures + 1, now)
    case .idle, .awaitingCode, .checkingCode, .resting, .accepting, .over: return []
    }
  }

  private mutating func failPoll(_ failure: ProviderFailure, _ failures: Int, _ now: Moment) -> [Action] {
    guard let floor = Self.pause(after: failure) else { return end(LoginEnd(actionFailed: failure), isTold: true) }
    if let actions = endIfOver(now) { return actions }
    // Any answer shows that the provider is there.
    let failures = NetworkState.Event(failure) == .answered ? 0 : failures
    let doubled = interval * Double(1 << min(failures, 6))
    let pause = max(min(max(doubled, floor), Self.longestPause), interval)
    state = .resting(until: now.uptime + pause, failures: failures)
    return []
  }

  /// Ends the login with the failure that left the user of its session unknown.
  private mutating func endUnproven(_ failure: ProviderFailure) -> [Action] {
    switch state {
    case .polling, .listening: break
    case .idle, .awaitingCode, .checkingCode, .resting, .accepting, .over: return []
    }
    switch failure {
    case .transient(let kind, _, _), .outcomeUnknown(let kind, _): return end(.replyLost(kind), isTold: true)
    default: return end(LoginEnd(actionFailed: failure), isTold: true)
    }
  }

  /// Stops waiting for the user: the login rests in the store.
  ///
  /// A provider call that is under way still counts.
  mutating func stopWaiting() -> [Action] {
    switch state {
    case .resting, .listening: return detach(.shuttingDown)
    case .polling: return [.refuseWaiting(.shuttingDown)]
    case .idle, .awaitingCode, .checkingCode, .accepting, .over: return []
    }
  }

  /// How long to wait after a passing failure; nil for one that does not pass.
  private static func pause(after failure: ProviderFailure) -> Duration? {
    switch failure {
    case .transient(_, let retryAfter, _), .outcomeUnknown(_, let retryAfter): retryAfter ?? .zero
    case .refused(let kind, _, let retryAfter, _) where kind.isRetryable: retryAfter ?? .zero
    // Nothing was sent: the client's own credential may be there at the next poll.
    case .credentialMissing, .subjectMissing: .zero
    case .refused, .misconfigured, .rejected, .rotated, .sessionEnded, .reauthenticationRequired, .challenged,
      .tokenRefused, .unsupported:
      nil
    }
  }
}

extension ProviderUserAction {
  /// The action as clients may know it.
  func described(id: String, profile: ProfileName, clientContext: String? = nil) -> UserAction {
    UserAction(
      loginFlowID: id, profile: profile, kind: kind, verificationURI: verificationURI,
      verificationURIComplete: verificationURIComplete, userCode: userCode, expiresAt: expiresAt,
      interval: kind == .deviceCode ? max(interval, Self.shortestInterval) : nil, clientContext: clientContext)
  }

  /// The shortest polling interval, whatever the provider says: an interval of 0 would be a loop.
  package static let shortestInterval = Duration.seconds(1)
}
