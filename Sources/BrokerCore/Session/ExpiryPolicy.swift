import BrokerProtocol

/// When a token is good enough, and when it is time for a new one.
package struct ExpiryPolicy: Sendable, Equatable {
  /// How long a token must still live unless the request says otherwise.
  package var skew: Duration
  /// Whether tokens are refreshed before anybody asks.
  package var refreshesInBackground: Bool

  /// A skew below this would hand out tokens that end on their way (interface, `refreshSkewSeconds`).
  package static let shortestSkew = Duration.seconds(15)

  /// A background refresh begins after this share of a token's life: late enough to spare the provider, early enough
  /// that one failure is not yet felt.
  static let refreshShare = 0.8

  /// A policy; a skew below the floor is raised to it.
  package init(skew: Duration = .seconds(30), refreshesInBackground: Bool = true) {
    self.skew = max(skew, Self.shortestSkew)
    self.refreshesInBackground = refreshesInBackground
  }

  /// Whether the access token still serves a caller who needs it for `minValidity`.
  ///
  /// A token whose whole life is shorter than that is good while it lives: else every call would refresh.
  func isGood(_ session: LivingSession, for minValidity: Duration?, at now: Timestamp) -> Bool {
    guard let end = session.tokens.accessTokenExpiresAt else { return true }
    let rest = end - now
    guard rest > .zero else { return false }
    let wanted = minValidity ?? skew
    return rest >= wanted || end - session.issuedAt < wanted
  }

  /// When a background refresh is due; nil where there is nothing to refresh, or no end.
  ///
  /// A token that lives as long as its refresh token is the last one: a refresh would gain nothing.
  func refreshDue(_ session: LivingSession) -> Timestamp? {
    guard refreshesInBackground, session.tokens.refreshToken != nil, let end = session.tokens.accessTokenExpiresAt
    else {
      return nil
    }
    if let refreshEnd = session.tokens.refreshTokenExpiresAt, refreshEnd <= end { return nil }
    let life = end - session.issuedAt
    return session.issuedAt + .milliseconds(Int64(Double(life.milliseconds) * Self.refreshShare))
  }
}

extension LivingSession {
  /// Whether the access token has not ended.
  func isAccessTokenAlive(at now: Timestamp) -> Bool {
    tokens.accessTokenExpiresAt.map { $0 > now } ?? true
  }

  /// Why the session cannot be refreshed; nil where it can.
  func refreshObstacle(at now: Timestamp) -> SessionExpiredEvent.Reason? {
    guard tokens.refreshToken != nil else { return .noRefreshToken }
    if let end = tokens.refreshTokenExpiresAt, end <= now { return .refreshTokenExpired }
    return nil
  }

  /// When the session will be over if nothing happens; nil where that is not known.
  var endsAt: Timestamp? {
    guard let accessEnd = tokens.accessTokenExpiresAt else { return nil }
    guard tokens.refreshToken != nil else { return accessEnd }
    return tokens.refreshTokenExpiresAt.map { max($0, accessEnd) }
  }
}
