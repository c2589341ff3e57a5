/// A caller's request for a token.
package struct TokenDemand: Sendable, Equatable {
  /// The caller.
  package var waiter: CallerID
  /// How long the token must still live; nil means the profile's skew.
  package var minValidity: Duration?
  /// Whether only a new token will do.
  package var forcesRefresh: Bool
  /// Whether to wait for a login where one is needed.
  package var waitsForLogin: Bool
  /// Whether a server has refused the current token: one without an expiry has ended by that.
  package var isRefused: Bool
  /// The requested target; nil for the session's own token.
  package var target: TokenTarget?
  /// Whether the provider can give a token for such a target at all.
  package var isGivable: Bool

  package init(
    waiter: CallerID, minValidity: Duration? = nil, forcesRefresh: Bool = false, waitsForLogin: Bool = false,
    isRefused: Bool = false, target: TokenTarget? = nil, isGivable: Bool = true
  ) {
    self.waiter = waiter
    self.minValidity = minValidity
    self.forcesRefresh = forcesRefresh
    self.waitsForLogin = waitsForLogin
    self.isRefused = isRefused
    self.target = target
    self.isGivable = isGivable
  }
}
