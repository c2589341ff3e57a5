import BrokerProtocol
import SecretMemory

/// The ID token of a session, and how long it lives still.
struct HeldIDToken {
  /// The token.
  let token: Secret
  /// When it ends, by this machine's clock; nil where it does not say so: such a token is taken for a living one.
  let end: Timestamp?
  private let rest: Duration?
  private let lifetime: Duration?
  private let refreshedAt: Timestamp?

  /// The ID token of a session whose tokens came into this process at `since`; nil where there is none.
  init?(of living: LivingSession, since: Moment?, at now: Moment) {
    guard let token = living.tokens.idToken else { return nil }
    self.token = token
    let span = UnverifiedToken.span(of: token)
    let end = span.map { $0.end + (.zero - (living.tokens.clockSkew ?? .zero)) }
    self.end = end
    rest = end.map { (since ?? now).deadline($0).rest(at: now) }
    lifetime = span.flatMap { span in span.issuedAt.map { span.end - $0 } }
    refreshedAt = living.lastRefreshAt.map { _ in living.issuedAt }
  }

  /// Whether it has not ended.
  var isAlive: Bool { rest.map { $0 > .zero } ?? true }

  /// Whether it lives long enough; one whose whole life is shorter than that is good while it lives.
  func isGood(for skew: Duration) -> Bool {
    guard let rest else { return true }
    return rest > .zero && (rest >= skew || lifetime.map { $0 < skew } ?? false)
  }

  /// Whether a refresh brings no other: the last one has not either, although this one was no longer good then.
  func isLastWord(for skew: Duration) -> Bool {
    guard let end, let refreshedAt else { return false }
    return refreshedAt > end + (.zero - skew)
  }
}
