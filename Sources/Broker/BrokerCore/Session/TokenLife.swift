import BrokerProtocol

/// The expiries of a session's tokens, on both clocks.
///
/// Nothing here ends a session: a token that has expired by this machine's clocks is not served, and its provider is
/// asked.
struct TokenLife: Sendable, Equatable {
  /// When the tokens were asked for.
  let issued: Deadline
  /// When the access token ends; nil where it has no end.
  let accessEnd: Deadline?
  /// How long the access token lives in all; nil where it has no end.
  let lifetime: Duration?
  /// When the refresh token ends; nil where that is not known.
  let refreshEnd: Deadline?
  /// Since when that is its end.
  let refreshIssued: Deadline
  /// Whether there is a refresh token.
  let isRefreshable: Bool

  /// The life of a session's tokens, as its times are read.
  init(of session: LivingSession, _ dating: TokenDating) {
    let tokens = session.tokens
    issued = dating.deadline(session.issuedAt)
    accessEnd = tokens.accessTokenExpiresAt.map(dating.deadline)
    lifetime = tokens.accessTokenExpiresAt.map { $0 - session.issuedAt }
    refreshEnd = tokens.refreshTokenExpiresAt.map(dating.deadline)
    refreshIssued = dating.deadline(session.refreshTokenIssuedAt ?? session.issuedAt)
    isRefreshable = tokens.refreshToken != nil
  }

  /// How long the refresh token lives in all; nil where that is not known.
  var refreshLifetime: Duration? { refreshEnd.map { $0.uptime - refreshIssued.uptime } }

  /// Whether the access token may be served.
  func isAlive(at now: Moment) -> Bool { accessEnd.map { !$0.hasCome(at: now) } ?? true }

  /// Whether no token can be had of the session as it is: its access token has expired, and there is none to refresh it
  /// with.
  ///
  /// It is computed, and deletes nothing: a clock that was wrong is set, and the token is served again.
  func isSpent(at now: Moment) -> Bool { !isRefreshable && !isAlive(at: now) }
}

/// The members of an answer beside its token.
package struct TokenMarks: Sendable, Hashable {
  /// Whether the provider cannot be reached, as the session's state says to everyone.
  package var isOffline: Bool
  /// Whether the caller wanted the token to live for longer than can be relied on.
  package var isCapped: Bool

  package init(isOffline: Bool = false, isCapped: Bool = false) {
    self.isOffline = isOffline
    self.isCapped = isCapped
  }
}

/// The targets of recent tokens, by the tokens' names.
///
/// Clients may report a token when its session is over, or is another one: so this outlives the session.
struct TokenNames: Sendable {
  /// The most names: of the present token of each target, and of the one before it.
  static let most = 2 * OtherTokens.most

  private var names: [(id: String, target: TokenTarget)] = []

  /// Notes the target of a token by its name.
  mutating func note(_ id: String, _ target: TokenTarget) {
    names.removeAll { $0.id == id }
    names.append((id, target))
    if names.count > Self.most { names.removeFirst() }
  }

  /// The target of a token; nil for an unknown one, and for the session's own.
  func target(of id: String) -> TokenTarget? { names.first { $0.id == id }?.target }
}
