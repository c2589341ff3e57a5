import BrokerProtocol

/// A session that has tokens, and the state that exists only as long as it has them: it ends with the session.
package struct SessionLife: Sendable {
  /// The tokens and the facts about the session, as clients see them.
  package internal(set) var session: LivingSession
  /// The conversion of the tokens' times to the present clocks.
  private(set) var dating: TokenDating
  /// When the tokens are renewed.
  private(set) var renewal: RenewalTimes
  /// The random number that says so, for as long as they are the session's.
  private var jitter: Double
  /// When clients used the session.
  var use: UseWatch
  /// When a refresh is due without a caller.
  var schedule = RefreshSchedule()
  /// New tokens that are being saved, and not published yet.
  @Boxed var saving: TokensBeingSaved? = nil
  /// The events about the newest tokens, which could not be saved yet; nil where they are saved.
  var unsavedEvents: [EventPayload]?
  /// The record that notes the last use or a demand, until it is known whether it is durable.
  var notedGeneration: UInt64?
  /// The warning in that record: an event that a failed save must not swallow.
  @Boxed var notedWarning: EventPayload? = nil
  /// Whether a demand on the next login is still to be written down.
  var owesNote = false
  /// The provider's description of the user that is not durable yet.
  @Boxed var described: UserDescription? = nil
  /// Whether a login of this run has begun the grant, so that no other program has a refresh token of it.
  var isOwnGrant = false
  /// Whether it is told that nothing can be had of the session as it is.
  var toldEnd = false
  /// Whether a client has reported that the current access token is refused.
  var isAccessTokenRefused = false
  /// Whether the tokens were issued for another token than there is now.
  var isOutdated = false
  /// When the source of a configured secret is to be asked again that a server has refused; nil where none has.
  var doubtEnds: Duration?
  /// Why the provider may have ended the session; nil where nothing says so.
  var suspectedEnd: LogoutEvent.Reason?
  /// The answer of a flight, or tokens that came with a changed password, while a login was being saved: it counts only
  /// if the login fails.
  @Boxed var heldAnswer: SessionMachine.Event? = nil
  /// Tokens for other targets, and refused targets.
  var others = OtherTokens()
  /// The target of the present flight; nil for the session's own token.
  var flightTarget: TokenTarget?
  /// The number of refresh tokens that came without an access token, since there was one.
  var rotations = 0
  /// The target that the provider has refused in words that may mean the session as well: the next flight, for the
  /// session itself, shows which.
  var doubtedTarget: TokenTarget?

  /// A session whose times are read in this way; its renewal is to be planned.
  init(_ session: LivingSession, _ dating: TokenDating, _ use: UseWatch) {
    self.session = session
    self.dating = dating
    self.use = use
    jitter = 0
    renewal = RenewalTimes(TokenLife(of: session, dating), skew: .zero, jitter: jitter)
  }

  /// When the session's tokens end.
  var tokens: TokenLife { TokenLife(of: session, dating) }

  /// The freshness of the session's token.
  var freshness: Freshness {
    let tokens = tokens
    return Freshness(end: tokens.accessEnd, lifetime: tokens.lifetime, due: renewal.first)
  }

  /// Whether the session has ended for want of use.
  func isIdleOver(at now: Moment) -> Bool { use.isOver(at: now.uptime) }

  /// Whether the session is used enough for its token to be refreshed before a caller asks.
  func isInUse(at now: Moment) -> Bool { use.isInUse(at: now.uptime) }

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

  /// Plans the renewal of the present tokens; `jitter` is a random number from 0 to 1.
  mutating func plan(_ policy: ExpiryPolicy, jitter: Double, at now: Moment) {
    self.jitter = jitter
    renewal = RenewalTimes(tokens, skew: policy.skew, jitter: jitter)
    // What no server takes is renewed where it is asked for: only then is it of any use.
    let isPlanned = policy.refreshesInBackground && session.tokens.accessToken.kind != .subject
    _ = schedule.handle(.tokensTaken(due: isPlanned ? renewal.first : nil), at: now)
  }

  /// Adjusts to the present clocks, and to how far other ones are ahead where that is known.
  ///
  /// - Returns: whether the tokens' times are read in another way from now on.
  mutating func follow(verdict: Duration?, isNew: Bool, _ policy: ExpiryPolicy, at now: Moment) -> Bool {
    others.follow(now)
    guard dating.follow(session, verdict: verdict, isNew: isNew, at: now) else { return false }
    plan(policy, jitter: jitter, at: now)
    return true
  }

  /// Goes on with the session of a record, and with what was demanded since that was made.
  private mutating func adopt(_ new: LivingSession) {
    let stepUp = session.stepUp
    session = new
    session.stepUp = stepUp
  }

  /// Adopts new tokens: everything about those before them is over.
  mutating func take(_ new: TokensBeingSaved) {
    adopt(new.session)
    dating = TokenDating(askedAt: new.since)
    saving = nil
    toldEnd = false
    isAccessTokenRefused = false
    isOutdated = false
    doubtEnds = nil
    suspectedEnd = nil
    rotations = 0
  }

  /// Goes on with another refresh token, and everything else as it was.
  mutating func take(rotated new: TokensBeingSaved) {
    adopt(new.session)
    saving = nil
    flightTarget = nil
    rotations += 1
  }

  /// Adopts a token for another target, in a session whose own tokens stay.
  mutating func take(_ new: TokensBeingSaved, with token: OtherToken, at now: Moment) {
    adopt(new.session)
    saving = nil
    flightTarget = nil
    others.keep(token, at: now)
  }

  /// Forgets the tokens for other targets, and the targets of their flights.
  mutating func forgetOthers() {
    others = OtherTokens()
    flightTarget = nil
    doubtedTarget = nil
  }
}
