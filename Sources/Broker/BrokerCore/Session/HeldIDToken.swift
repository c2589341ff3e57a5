import BrokerProtocol
import JOSE
import SecretMemory

/// The ID token of a session, and how long it lives still.
struct HeldIDToken {
  /// The token.
  let token: Secret
  /// When it expires, by this machine's clock; nil where it does not say so: such a token counts as living.
  let end: Timestamp?
  private let deadline: Deadline?
  private let freshness: Freshness
  private let refreshedAt: Timestamp?

  /// The ID token of a session whose times are read in this way; nil where there is none.
  init?(of living: LivingSession, _ dating: TokenDating?, at now: Moment) {
    guard let token = living.tokens.idToken else { return nil }
    self.token = token
    let span = UnverifiedToken.span(of: token)
    let providerAhead = living.clock?.providerAhead ?? living.tokens.clockSkew ?? .zero
    let deadline = span.map { (dating ?? TokenDating(askedAt: now)).deadline($0.end + (.zero - providerAhead)) }
    end = deadline?.wall
    self.deadline = deadline
    let lifetime = span.flatMap { span in span.issuedAt.map { span.end - $0 } }
    freshness = Freshness(end: deadline, lifetime: lifetime)
    refreshedAt = living.lastRefreshAt.flatMap { _ in dating?.deadline(living.issuedAt).wall }
  }

  /// Whether it has not ended.
  func isAlive(at now: Moment) -> Bool { deadline.map { !$0.hasCome(at: now) } ?? true }

  /// Whether it lives long enough.
  func isGood(for skew: Duration, at now: Moment) -> Bool { freshness.verdict(for: skew, at: now) != .stale }

  /// Whether a refresh brings no other: the last one has not either, although this one had already expired then.
  func isLastWord(for skew: Duration) -> Bool {
    guard let end, let refreshedAt else { return false }
    return refreshedAt > end + (.zero - skew)
  }
}
