package import BrokerProtocol
package import SecretMemory

/// An access token of a session for something else than the session's own token is good for.
package struct OtherToken: Sendable, Equatable {
  /// What it was asked for.
  package let target: TokenTarget
  /// The token.
  package let accessToken: Secret
  /// When it ends; nil where the provider gives no lifetime.
  package private(set) var expiresAt: Timestamp?
  /// What the provider says it is good for; what was asked for where it says nothing (RFC 6749, section 5.1).
  package let scopes: [String]
  /// How long it lives in all; nil where it has no end.
  let lifetime: Duration?
  /// When it was asked for.
  private(set) var since: Moment
  /// Whether a client has reported that it is refused.
  var isRefused = false

  /// The access token among the tokens that a provider gave for a target.
  ///
  /// - Parameters:
  ///   - target: what was asked for.
  ///   - tokens: the answer.
  ///   - sessionScopes: what the session is good for, where neither question nor answer names scopes.
  ///   - sentAt: when the question was sent, by the wall clock of then.
  ///   - since: the same moment on both clocks.
  init(_ target: TokenTarget, _ tokens: TokenSet, sessionScopes: [String], sentAt: Timestamp, since: Moment) {
    self.target = target
    accessToken = tokens.accessToken.value.resting()
    expiresAt = tokens.accessTokenExpiresAt
    let asked = target.scopes.isEmpty ? sessionScopes : target.scopes
    scopes = tokens.scopes.isEmpty ? asked : tokens.scopes
    lifetime = tokens.accessTokenExpiresAt.map { $0 - sentAt }
    self.since = since
  }

  /// When it ends, on both clocks; nil where it has no end.
  var end: Deadline? { expiresAt.map { since.deadline($0) } }

  /// Whether it may be served: one without an end until it is refused.
  func isAlive(at now: Moment) -> Bool { end.map { !$0.hasCome(at: now) } ?? !isRefused }

  /// When it serves whom.
  var freshness: Freshness { Freshness(end: end, lifetime: lifetime) }

  /// Takes in what the clocks say now: it lives on as long as before.
  mutating func follow(_ now: Moment) {
    let step = now.bootedAt - since.bootedAt
    guard step > TokenDating.unsetDrift || step < .zero - TokenDating.unsetDrift else { return }
    since.wall = since.wall + step
    expiresAt = expiresAt.map { $0 + step }
  }
}
