import BrokerProtocol

/// When the tokens of a session end, on both clocks.
///
/// They expire at times of the wall clock, as their provider said. In uptime they expire so long after they came: since they
/// were asked for, or since they were read from the store.
struct TokenLife: Sendable, Equatable {
  /// When the access token ends; nil where it has no end.
  let accessEnd: Deadline?
  /// When the refresh token ends; nil where that is not known.
  let refreshEnd: Deadline?
  /// How long the access token lives in all; nil where it has no end.
  let lifetime: Duration?
  /// Whether there is a refresh token.
  let isRefreshable: Bool

  /// The life of a session's tokens, which came at `since`.
  init(of session: LivingSession, since: Moment) {
    let tokens = session.tokens
    accessEnd = tokens.accessTokenExpiresAt.map { since.deadline($0) }
    refreshEnd = tokens.refreshTokenExpiresAt.map { since.deadline($0) }
    lifetime = tokens.accessTokenExpiresAt.map { $0 - session.issuedAt }
    isRefreshable = tokens.refreshToken != nil
  }

  /// Whether the access token may be served.
  func isAlive(at now: Moment) -> Bool { accessEnd.map { !$0.hasCome(at: now) } ?? true }

  /// Why there is nothing to refresh with; nil where there is.
  ///
  /// A refresh token that only one clock takes for ended is sent: its provider knows better.
  func obstacle(at now: Moment) -> SessionExpiredEvent.Reason? {
    guard isRefreshable else { return .noRefreshToken }
    guard let refreshEnd, refreshEnd.hasSurelyCome(at: now) else { return nil }
    return .refreshTokenExpired
  }

  /// Why the session is over although no provider has said so; nil where it is not.
  func end(at now: Moment) -> SessionExpiredEvent.Reason? {
    guard let accessEnd, accessEnd.hasSurelyCome(at: now) else { return nil }
    return obstacle(at: now)
  }

  /// The uptime at which the session will be over if nothing happens; nil where that is not known.
  func ends(at now: Moment) -> Duration? {
    guard let accessEnd = accessEnd?.surelyComes(at: now) else { return nil }
    guard isRefreshable else { return accessEnd }
    return refreshEnd.map { max($0.surelyComes(at: now), accessEnd) }
  }
}
