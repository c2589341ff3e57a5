import BrokerProtocol

/// Tokens for other scopes, or for another audience, than the session's own.
///
/// There is one flight for all callers, whatever its target: the refresh token is one, and what can become of it is the
/// same. A refusal for a target says nothing of the session.
extension SessionMachine {
  /// The target that the session's own token does not cover; nil where that token serves.
  func otherTarget(of demand: TokenDemand) -> TokenTarget? { demand.target.flatMap(otherTarget) }

  private func otherTarget(_ target: TokenTarget) -> TokenTarget? {
    guard let living, !target.isCovered(by: living.tokens.scopes) else { return nil }
    return target
  }

  /// Serves a caller from the present token of its target, or lets it wait for a flight.
  mutating func want(_ target: TokenTarget, _ demand: TokenDemand, _ now: Moment) -> [Action] {
    if let error = refusal(of: target, demand, now) { return [.answerError(demand.waiter, error)] }
    if demand.isRefused { life?.others.noteRefused(target) }
    if let answer = serve(target, demand, now) { return [answer] }
    demands.append(demand)
    return refreshOrJoin(now)
  }

  /// Serves the callers that wait for other tokens, as if they had just asked, and begins the next flight.
  mutating func serveOthers(_ now: Moment) -> [Action] {
    var actions: [Action] = []
    let waiting = demands
    demands = []
    for demand in waiting {
      if let target = otherTarget(of: demand), let error = refusal(of: target, demand, now) {
        actions.append(.answerError(demand.waiter, error))
      } else if let target = otherTarget(of: demand), let answer = serve(target, demand, now) {
        actions.append(answer)
      } else {
        demands.append(demand)
      }
    }
    return actions + serveWaiting(now)
  }

  private mutating func serve(_ target: TokenTarget, _ demand: TokenDemand, _ now: Moment) -> Action? {
    guard !demand.forcesRefresh, let token = life?.others.use(target), token.isAlive(at: now),
      token.freshness.verdict(for: want(of: demand), at: now) != .stale
    else { return nil }
    return .answerOther(demand.waiter, token, marks(demand, token))
  }

  /// The marks beside a token for another target.
  private func marks(_ demand: TokenDemand, _ token: OtherToken) -> TokenMarks {
    TokenMarks(isOffline: isOffline, isCapped: token.freshness.caps(want(of: demand).milliseconds))
  }

  /// Why a target is not asked for at all.
  private func refusal(of target: TokenTarget, _ demand: TokenDemand, _ now: Moment) -> BrokerError? {
    demand.isGivable ? life?.others.refusal(of: target, at: now.uptime) : notGiven()
  }

  private func notGiven() -> BrokerError {
    BrokerError(
      .insufficientScope, "The provider does not issue this session a token for these scopes or this audience.",
      profile: profile)
  }

  /// Answers a caller that cannot have a new token: with the living one where that serves, else with the error.
  func settle(
    _ error: BrokerError, _ demand: TokenDemand, _ target: TokenTarget, _ now: Moment
  ) -> Action {
    guard !demand.forcesRefresh, let token = life?.others.token(for: target), token.isAlive(at: now) else {
      return .answerError(demand.waiter, error)
    }
    return .answerOther(demand.waiter, token, marks(demand, token))
  }

  /// Answers the callers that wait for a target which was asked for too often, and continues with the others.
  mutating func bar(_ target: TokenTarget, for wait: Duration, _ now: Moment) -> [Action] {
    life?.flightTarget = nil
    var error = BrokerError(
      .rateLimited, "Tokens for these scopes or this audience were requested too often within a minute; wait.",
      profile: profile)
    error.retryAfter = wait
    let barred = takeDemands { $0 == target }
    return barred.map { settle(error, $0, target, now) } + serveWaiting(now)
  }

  /// Takes out the callers whose target passes a test; nil stands for the session's own token.
  mutating func takeDemands(_ isTaken: (TokenTarget?) -> Bool) -> [TokenDemand] {
    let waiting = demands
    demands = waiting.filter { !isTaken(otherTarget(of: $0)) }
    return waiting.filter { isTaken(otherTarget(of: $0)) }
  }

  /// Refuses the callers that want other tokens of a session without a refresh token.
  mutating func refuseOthers() -> [Action] {
    let waiting = takeDemands { $0 != nil }
    let error = BrokerError(
      .insufficientScope,
      "The session has no refresh token, so it cannot get a token for other scopes or another audience.",
      profile: profile)
    return waiting.map { .answerError($0.waiter, error) }
  }

  /// The target of the next flight; nil, the session itself, where a caller waits for that or something is not known of
  /// it.
  var nextTarget: TokenTarget? {
    guard refresh.lost == nil, life?.doubtedTarget == nil else { return nil }
    let wanted = demands.map { otherTarget(of: $0) }
    return wanted.contains(nil) ? nil : wanted.first ?? nil
  }

  /// Takes the answer to a flight for a target, which no client sees before the new refresh token is saved.
  ///
  /// The session's own access token stays, and its planned refresh too. A reply without a refresh token shows nothing
  /// about rotation: the request may be no reason to give one.
  mutating func take(
    _ tokens: TokenSet, for target: TokenTarget, into session: LivingSession, _ sentAt: Timestamp, since: Moment,
    _ now: Moment
  ) -> [Action] {
    var session = session
    let other = OtherToken(target, tokens, sessionScopes: session.tokens.scopes, sentAt: sentAt, since: since)
    if let refreshToken = tokens.refreshToken {
      if refreshToken != session.tokens.refreshToken {
        session.rotatesRefreshToken = true
        session.tokens.refreshTokenExpiresAt = nil
      }
      session.tokens.refreshToken = refreshToken
      if let end = tokens.refreshTokenExpiresAt {
        let issued = refreshTokenIssued(tokens, sentAt) ?? sentAt
        if issued == sentAt { session.isEndTold = false }
        session.refreshTokenIssuedAt = kept(issued)
        session.tokens.refreshTokenExpiresAt = kept(end)
      }
    }
    session.lastValidatedAt = now.wall
    note(in: &session, now)
    var events: [EventPayload] = []
    beginRecord(of: &session, &events)
    let saving = TokensBeingSaved(
      session: session, generation: generation, since: since, other: other, events: events)
    life?.saving = saving
    return [.save(record(.living(session)), announcing: events)]
  }

  /// Adopts the rotated refresh token, and keeps the new access token for its target.
  mutating func begin(_ token: OtherToken, _ new: TokensBeingSaved, _ now: Moment) -> [Action] {
    life?.take(new, with: token, at: now)
    _ = refresh.handle(.settled, terms, at: now)
    names.note(tokenID(token.accessToken), token.target)
    let served = takeDemands { $0 == token.target }
    let isAlive = token.isAlive(at: now)
    let error = BrokerError(.timeout, "The token had expired before it arrived.", profile: profile)
    return served.map {
      isAlive ? .answerOther($0.waiter, token, marks($0, token)) : .answerError($0.waiter, error)
    } + serveOthers(now)
  }

  /// Handles a refusal of a flight for a target; nil where it is about the session, or passes.
  ///
  /// Some providers use the same words for a target without the user's consent as others do for a session that is over.
  /// Whether it is, the session's own refresh shows, which follows at once.
  mutating func refuse(
    _ target: TokenTarget, _ flight: UInt64, _ failure: ProviderFailure, _ now: Moment
  ) -> [Action]? {
    let error: BrokerError
    switch failure {
    case .sessionEnded(_, alert: nil, _):
      life?.doubtedTarget = target
      return run(refresh.handle(.notGranted(flight: flight), terms, at: now), now) + startRefresh(now)
    case .reauthenticationRequired, .challenged:
      error = BrokerError(
        .reauthRequired, "The provider requires the user to authenticate again before it issues this token.",
        profile: profile)
    case .sessionEnded, .transient, .outcomeUnknown, .rejected, .rotated, .tokenRefused: return nil
    default:
      guard !failure.kind.isRetryable else { return nil }
      error = failure.kind == .insufficientScope ? notGiven() : BrokerError(failure, profile: profile)
    }
    let actions = run(refresh.handle(.notGranted(flight: flight), terms, at: now), now)
    life?.others.refuse(target, error, at: now.uptime)
    return actions + serveOthers(now)
  }

  /// Notes that the session goes on: the doubtful refusal was about the target.
  mutating func refuseDoubted(_ now: Moment) {
    guard let target = life?.doubtedTarget else { return }
    let error = notGiven()
    life?.doubtedTarget = nil
    life?.others.refuse(target, error, at: now.uptime)
  }
}

/// Look-ups of the tokens that clients report.
extension SessionMachine {
  /// The target of a token; nil for the session's own, and for an unknown one.
  package func target(ofTokenNamed id: String) -> TokenTarget? {
    if let living, tokenID(living.tokens.accessToken.value) == id { return nil }
    return names.target(of: id)
  }

  /// Whether a token is the present one for a target; nil is the session's own.
  package func isCurrent(tokenNamed id: String, for target: TokenTarget?) -> Bool {
    guard let living else { return false }
    guard let target = target.flatMap(otherTarget) else { return tokenID(living.tokens.accessToken.value) == id }
    return life?.others.token(for: target).map { tokenID($0.accessToken) == id } ?? false
  }

  /// The token that is kept for a target; nil where the session's own serves it.
  func otherToken(for target: TokenTarget?) -> OtherToken? {
    target.flatMap(otherTarget).flatMap { life?.others.token(for: $0) }
  }
}
