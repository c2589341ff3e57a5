/// When a token is good enough, and when it is time for a new one.
package struct ExpiryPolicy: Sendable, Equatable {
  /// How long a token must still live unless the request says otherwise.
  package var skew: Duration
  /// Whether tokens are refreshed before a caller asks.
  package var refreshesInBackground: Bool

  /// A skew below this would hand out tokens that end on their way.
  package static let shortestSkew = Duration.seconds(15)

  /// A policy; a skew below the floor is raised to it.
  package init(skew: Duration = .seconds(30), refreshesInBackground: Bool = true) {
    self.skew = max(skew, Self.shortestSkew)
    self.refreshesInBackground = refreshesInBackground
  }

  /// Whether the access token still serves a caller who needs it for `minValidity`.
  ///
  /// A token whose whole life is shorter than that is good while it lives: else every call would refresh.
  func isGood(_ life: TokenLife, for minValidity: Duration?, at now: Moment) -> Bool {
    isGood(end: life.accessEnd, lifetime: life.lifetime, for: minValidity, at: now)
  }

  /// The same of a token of which only this is known: both are nil for one without an end.
  func isGood(end: Deadline?, lifetime: Duration?, for minValidity: Duration?, at now: Moment) -> Bool {
    guard let end, let lifetime else { return true }
    let rest = end.rest(at: now)
    let wanted = minValidity ?? skew
    return rest > .zero && (rest >= wanted || lifetime < wanted)
  }
}
