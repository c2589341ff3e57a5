package import BrokerProtocol
package import SecretMemory

/// An access token of a session for another target.
package struct OtherToken: Sendable, Equatable {
  /// The requested target.
  package let target: TokenTarget
  /// The token, and the way in which it is presented.
  let bound: BoundToken
  /// The token.
  package var accessToken: Secret { bound.value }
  /// When it ends; nil where the provider gives no lifetime.
  package private(set) var expiresAt: Timestamp?
  /// The granted scopes, by the reply or else as requested (RFC 6749, section 5.1).
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
    bound = tokens.accessToken.resting()
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

  /// The freshness of the token.
  var freshness: Freshness { Freshness(end: end, lifetime: lifetime) }

  /// Adjusts to the present clocks: it lives on as long as before.
  mutating func follow(_ now: Moment) {
    let step = now.bootedAt - since.bootedAt
    guard step > TokenDating.unsetDrift || step < .zero - TokenDating.unsetDrift else { return }
    since.wall = since.wall + step
    expiresAt = expiresAt.map { $0 + step }
  }
}

/// The tokens of a session for other targets, and the targets that its provider has refused lately.
///
/// They rest in no store: after a restart each is asked for once more. A value that is bounded in every way, whatever
/// clients ask for.
struct OtherTokens: Sendable {
  /// The most tokens, by the needs of a gateway that calls some dozens of services; beyond, the least valuable one
  /// goes: the one that expires first, as it is the first to be asked for again anyway, and of those the least recently
  /// used.
  static let most = 64
  /// How long a refusal of a target holds, however often clients want it: so a loop of theirs reaches neither the
  /// provider nor the breaker, and a consent that was given meanwhile is seen after a minute.
  static let refusalHolds = Duration.seconds(60)

  private struct Refusal {
    let error: BrokerError
    let until: Duration
  }

  /// The least lately used first.
  private var tokens: [OtherToken] = []
  private var refusals: [(target: TokenTarget, refusal: Refusal)] = []
  /// The breakers; a new session has fresh ones.
  var budgets = TargetBudgets()

  /// How many tokens there are.
  var count: Int { tokens.count }

  /// The token for a target; asking for it uses it.
  mutating func use(_ target: TokenTarget) -> OtherToken? {
    guard let index = tokens.firstIndex(where: { $0.target == target }) else { return nil }
    let token = tokens.remove(at: index)
    tokens.append(token)
    return token
  }

  /// The token for a target, without its being used.
  func token(for target: TokenTarget) -> OtherToken? { tokens.first { $0.target == target } }

  /// Keeps a token in the place of the one before it.
  mutating func keep(_ token: OtherToken, at now: Moment) {
    tokens.removeAll { $0.target == token.target || !$0.isAlive(at: now) }
    if tokens.count == Self.most { tokens.remove(at: leastValuable) }
    tokens.append(token)
    refusals.removeAll { $0.target == token.target }
  }

  /// The index of the least valuable token; one without expiry is worth the most, unless it is refused.
  private var leastValuable: Int {
    var least = tokens.startIndex
    for index in tokens.indices.dropFirst() where Self.worth(tokens[index]) < Self.worth(tokens[least]) {
      least = index
    }
    return least
  }

  private static func worth(_ token: OtherToken) -> Duration {
    token.isRefused ? .zero : token.end?.uptime ?? .seconds(Int64.max)
  }

  /// Adjusts all tokens to the present clocks.
  mutating func follow(_ now: Moment) {
    for index in tokens.indices { tokens[index].follow(now) }
  }

  /// Takes in that a client has reported a target's token as refused.
  mutating func noteRefused(_ target: TokenTarget) {
    guard let index = tokens.firstIndex(where: { $0.target == target }) else { return }
    tokens[index].isRefused = true
  }

  /// Takes in that the provider gives no token for a target.
  mutating func refuse(_ target: TokenTarget, _ error: BrokerError, at uptime: Duration) {
    refusals.removeAll { $0.target == target || $0.refusal.until <= uptime }
    refusals.append((target, Refusal(error: error, until: uptime + Self.refusalHolds)))
    if refusals.count > Self.most { refusals.removeFirst() }
  }

  /// Why a target is not asked for now; nil where it is.
  func refusal(of target: TokenTarget, at uptime: Duration) -> BrokerError? {
    refusals.first { $0.target == target && uptime < $0.refusal.until }?.refusal.error
  }

  /// Forgets the refusals: the targets may be granted now.
  mutating func forgetRefusals() { refusals = [] }
}
