import BrokerProtocol

/// Sessions that need no login: the first caller's wish begins them, and every later one after their end.
extension SessionMachine {
  /// Handles an event that only a session without a login has.
  mutating func takeOfGrant(_ event: Event, _ now: Moment) -> [Action] {
    switch event {
    case .firstFetched(let flight, let tokens, let grant, let sentAt):
      acceptFirst(flight, tokens, grant, sentAt, now)
    case .firstFailed(let flight, let failure): failFirst(flight, failure, now)
    case .subjectReplaced: replaceSubject(now)
    default: []
    }
  }

  /// Lets a caller wait for the first token, which is requested unless that is under way, or has just failed.
  mutating func wantFirst(_ demand: TokenDemand, _ now: Moment) -> [Action] {
    guard !isSigningIn else {
      demandsForLogin.append(demand)
      return []
    }
    switch first.want(at: now.uptime) {
    case .refuse(let error):
      guard isCured(error, byLoginFor: demand) else { return [.answerError(demand.waiter, error)] }
      demandsForLogin.append(demand)
      return []
    case .join:
      demandsForLogin.append(demand)
      return []
    case .send(let flight):
      demandsForLogin.append(demand)
      return [.requestFirst(flight: flight)]
    }
  }

  /// Takes in the first tokens: from here on the session is as one of a login.
  private mutating func acceptFirst(
    _ flight: UInt64, _ tokens: TokenSet, _ grant: String, _ sentAt: Moment, _ now: Moment
  ) -> [Action] {
    guard first.land(flight) else { return [.discard(tokens, withNextRecord: false)] }
    if isReadStale { return readStale(now) }
    let session = ProviderSession(tokens: tokens, user: nil, rotatesRefreshToken: false)
    return acceptLogin(session, grant, LoginDetails(), sentAt, now)
  }

  /// Takes in that there are no first tokens, and tells all that wait for them, but for those that wait for a login.
  private mutating func failFirst(_ flight: UInt64, _ failure: ProviderFailure, _ now: Moment) -> [Action] {
    let error = BrokerError(failure, profile: profile)
    let told = first.fail(flight, error, retryAfter: failure.retryAfter, jitter: jitter, at: now.uptime)
    guard let told else { return [] }
    if isReadStale {
      first.forgive()
      return readStale(now)
    }
    let waiting = demandsForLogin
    demandsForLogin = waiting.filter { isCured(told, byLoginFor: $0) }
    return waiting.filter { !isCured(told, byLoginFor: $0) }.map { .answerError($0.waiter, told) }
  }

  /// Whether a caller waits for the login that it takes: one to the profile for whose tokens these are issued.
  private func isCured(_ error: BrokerError, byLoginFor demand: TokenDemand) -> Bool {
    demand.waitsForLogin && error.nextAction == .login && error.profile != profile
  }

  /// Whether callers wait for the first tokens, or for a login that these need.
  var isFirstAwaited: Bool { life == nil && !demandsForLogin.isEmpty }

  /// Tells all that wait for the first tokens that these could not be saved.
  mutating func failFirstSaving() -> [Action] {
    guard isUnattended, life == nil else { return [] }
    return endLoginWaits(BrokerError(.storeFailed, profile: profile))
  }

  /// Takes in that a token which the session's was issued for is another one now: the session's own counts as old, and the
  /// next caller gets one that is issued for the new one.
  private mutating func replaceSubject(_ now: Moment) -> [Action] {
    first.forgive()
    // Those that depend on this one are told as well.
    answerVersion += 1
    guard life != nil else {
      guard isFirstAwaited, !isSigningIn, case .send(let flight) = first.want(at: now.uptime) else { return [] }
      return [.requestFirst(flight: flight)]
    }
    life?.isOutdated = true
    life?.forgetOthers()
    _ = refresh.handle(.reconfigured, terms, at: now)
    return []
  }
}
