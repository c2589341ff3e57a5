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
}
