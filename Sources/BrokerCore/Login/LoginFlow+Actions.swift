import BrokerProtocol

/// How a user is waited for who does something elsewhere.
extension LoginFlow {
  /// How long to wait between two questions.
  var interval: Duration { login.step.action?.interval ?? ProviderUserAction.standardInterval }

  /// Waits for the time of the next question.
  mutating func rest(_ slowsDown: Bool, _ now: Moment) -> [Action] {
    guard stage == .asking else { return [] }
    failures = 0
    if let actions = endIfOver(now) { return actions }
    if slowsDown, case .action(var action) = login.step {
      action.interval = interval + Self.slowDownStep
      login.step = .action(action)
    }
    stage = .resting(until: now.uptime + interval)
    return slowsDown ? [.keep([])] : []
  }

  /// A session that comes for a login which has ended meanwhile is revoked.
  mutating func finishAction() -> [Action] {
    switch stage {
    case .asking, .resting, .listening:
      let wasListening = stage == .listening
      stage = .accepting
      return (wasListening ? [.stopListening] : []) + [.accept(callers: [])]
    case .awaitingCode, .checkingCode, .accepting, .over: return [.revoke]
    }
  }

  /// A passing trouble puts the next question off, twice as long each time (RFC 8628, section 3.5); a browser comes back
  /// only once, so that there is nothing to wait for after it.
  mutating func failAction(_ failure: ProviderFailure, _ now: Moment) -> [Action] {
    guard stage == .asking || stage == .listening else { return [] }
    // The provider has cancelled the wait by itself: a later login has its place, and tells so.
    if stage == .listening, case .transient(.cancelled, _) = failure { return end(.replaced, isTold: false) }
    guard stage == .asking, let floor = Self.pause(after: failure) else {
      return end(LoginEnd(actionFailed: failure), isTold: true)
    }
    if let actions = endIfOver(now) { return actions }
    failures += 1
    let doubled = interval * Double(1 << min(failures, 6))
    stage = .resting(until: now.uptime + max(min(doubled, Self.longestPause), interval, floor))
    return []
  }

  /// Ends the login with the failure for which it is not known whose session it has brought: what the user has done serves
  /// once.
  mutating func endUnproven(_ failure: ProviderFailure) -> [Action] {
    guard stage == .asking || stage == .listening else { return [] }
    switch failure {
    case .transient(let kind, _), .outcomeUnknown(let kind, _): return end(.replyLost(kind), isTold: true)
    default: return end(LoginEnd(actionFailed: failure), isTold: true)
    }
  }

  /// How long a passing trouble wants to be waited for; nil for one that does not pass.
  private static func pause(after failure: ProviderFailure) -> Duration? {
    switch failure {
    case .transient(_, let retryAfter), .outcomeUnknown(_, let retryAfter): retryAfter ?? .zero
    case .refused(let kind, _, let retryAfter, _) where kind.isRetryable: retryAfter ?? .zero
    case .refused, .misconfigured, .sessionEnded, .reauthenticationRequired, .tokenRefused, .unsupported: nil
    }
  }
}

extension ProviderUserAction {
  /// The action as clients may know it.
  func described(id: String, profile: ProfileName) -> UserAction {
    UserAction(
      loginFlowID: id, profile: profile, kind: kind, verificationURI: verificationURI,
      verificationURIComplete: verificationURIComplete, userCode: userCode, expiresAt: expiresAt,
      interval: kind == .deviceCode ? max(interval, Self.shortestInterval) : nil)
  }

  /// No provider is asked more often, whatever it says: an interval of 0 would be a loop.
  static let shortestInterval = Duration.seconds(1)
}
