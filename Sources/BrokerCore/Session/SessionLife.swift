import BrokerProtocol

/// A session that has tokens, and everything that is known only as long as it has them: it ends with the session.
package struct SessionLife: Sendable {
  /// The tokens and what is known about them, as clients see them.
  package internal(set) var session: LivingSession
  /// When the tokens came into this process.
  var since: Moment
  /// When clients used the session.
  var use: UseWatch
  /// When a refresh is due without a caller.
  var schedule = RefreshSchedule()
  /// New tokens that are being saved, and not published yet.
  @Boxed var saving: TokensBeingSaved? = nil
  /// What is to be told of the newest tokens, which could not be saved yet; nil where they are saved.
  var unsavedEvents: [EventPayload]?
  /// The record that notes the last use, until it is known whether it is durable.
  var notedGeneration: UInt64?
  /// Whether a client has reported that the current access token is refused.
  var isAccessTokenRefused = false
  /// Why the provider may have ended the session; nil where nothing says so.
  var suspectedEnd: LogoutEvent.Reason?
  /// The answer of a flight, or tokens that came with a changed password, while a login was being saved: it counts only
  /// if the login fails.
  @Boxed var heldAnswer: SessionMachine.Event? = nil
  /// Tokens for other targets, and what was refused.
  var others = OtherTokens()
  /// What the present flight is for; nil: the session's own token.
  var flightTarget: TokenTarget?
  /// How often a refresh token came without an access token, since there was one.
  var rotations = 0
  /// What the provider has refused in words that may mean the session as well: the next flight, for the session itself,
  /// shows which.
  var doubtedTarget: TokenTarget?

  /// A session whose tokens came at `since`.
  init(_ session: LivingSession, since: Moment, _ use: UseWatch) {
    self.session = session
    self.since = since
    self.use = use
  }

  /// When the session's tokens end.
  var tokens: TokenLife { TokenLife(of: session, since: since) }

  /// Whether the session has ended for want of use.
  func isIdleOver(at now: Moment) -> Bool { use.isOver(at: now.uptime) }

  /// Whether it is worth refreshing the session's token before a caller asks.
  func isInUse(at now: Moment) -> Bool { use.isInUse(at: now.uptime, lifetime: tokens.lifetime) }

  /// The newest tokens, shown to clients or not.
  var newestTokens: TokenSet {
    let known = saving?.session.tokens ?? session.tokens
    switch heldAnswer {
    case .refreshSucceeded(_, var tokens, _), .tokensReplaced(var tokens, _):
      tokens.refreshToken = tokens.refreshToken ?? known.refreshToken
      tokens.idToken = tokens.idToken ?? known.idToken
      return tokens
    default: return known
    }
  }

  /// Plans the background refresh of the present tokens; `jitter` is a random number from 0 to 1.
  mutating func plan(_ policy: ExpiryPolicy, jitter: Double, at now: Moment) {
    let due = RefreshSchedule.due(session, since: since, policy, jitter: jitter)
    _ = schedule.handle(.tokensTaken(due: due), at: now)
  }

  /// Goes on with tokens that are the session's from now on: what was said of those before them is over.
  mutating func take(_ new: TokensBeingSaved) {
    session = new.session
    since = new.since
    saving = nil
    isAccessTokenRefused = false
    suspectedEnd = nil
    rotations = 0
  }

  /// Goes on with another refresh token, and everything else as it was.
  mutating func take(rotated new: TokensBeingSaved) {
    session = new.session
    saving = nil
    flightTarget = nil
    rotations += 1
  }

  /// Goes on with a session whose own tokens are the same, and a token for another target.
  mutating func take(_ new: TokensBeingSaved, with token: OtherToken, at now: Moment) {
    session = new.session
    saving = nil
    flightTarget = nil
    others.keep(token, at: now)
  }

  /// Forgets the tokens for other targets, and what their flights were for.
  mutating func forgetOthers() {
    others = OtherTokens()
    flightTarget = nil
    doubtedTarget = nil
  }
}
