package import BrokerProtocol
package import SecretMemory

/// Decides what happens to the session of one profile: one refresh for all callers, nothing published before it is
/// durable.
///
/// The refresh itself is ``RefreshMachine``'s, and its schedule without callers ``RefreshSchedule``'s.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state; what comes too late changes
/// nothing.
package struct SessionMachine: Sendable {
  /// The phase of the session; each case has what is known only in it.
  package enum Phase: Sendable {
    /// No user is logged in. Left by a login that was saved.
    case signedOut
    /// The record in this profile's store is not the one that was written. Left by a login that was saved, or a logout.
    case mistrusted
    /// There are tokens, or at least a way to ask for them. Left by a logout, a definitive refusal, or the end of the
    /// time without use, but by no clock alone; another login that was saved begins another life.
    case living(SessionLife)
    /// The session ended by itself. Left by a login that was saved, or a logout.
    case ended(SessionExpiredEvent.Reason)
    /// The session ended because its provider wants to see the user again. Left by a login that was saved, or a logout.
    case reauthenticationRequired
  }

  /// The work under way on a living session.
  package enum Activity: Sendable, Equatable {
    /// Nothing. Left when a token is wanted that is not there, or when a refresh is due.
    case resting
    /// The intent to spend the refresh token is being made durable. Left when it is, or cannot be made so.
    case preparing(flight: UInt64)
    /// The refresh token is on its way to the provider. Left by the provider's answer to this flight.
    case refreshing(flight: UInt64)
    /// New tokens are being saved, and not published yet. Left when they are saved, or cannot be.
    case saving(LivingSession, generation: UInt64)
    /// The last refresh failed, or its outcome is not known. Left when a token is wanted, or a wake-up comes, after
    /// `until`.
    case backingOff(until: Duration, BrokerError)
    /// The session was refreshed too often. Left when a token is wanted, or a wake-up comes, after `until`.
    case barred(until: Duration)
  }

  /// An event that drives the machine.
  package enum Event: Sendable {
    case restored(SessionRecord, intent: RefreshIntent?, flight: FlightUnderWay? = nil)
    case mistrusted
    /// The provider has given a session that was asked for then; nil: just now.
    case loginAccepted(ProviderSession, method: String, sentAt: Moment? = nil, details: LoginDetails = LoginDetails())
    case saved(generation: UInt64)
    case saveFailed(generation: UInt64)
    /// A store that other brokers share keeps another record in its place, which was taken up where it is a newer one;
    /// `lost` is the newest generation that there was, where the store has gone back.
    case saveRefused(generation: UInt64, lost: UInt64?)
    /// The store has gone back, and this was the newest generation that there was.
    case storeWentBack(UInt64)
    case tokenWanted(TokenDemand)
    /// A client has used the session at this uptime, without a token demand of its own.
    case used(at: Duration)
    case waiterLeft(CallerID)
    case intentSaved(flight: UInt64)
    case intentFailed(flight: UInt64)
    /// Another broker may be spending the refresh token, for so long at most: nothing was written.
    case intentHeld(flight: UInt64, for: Duration)
    /// The record that rests in the store that other brokers share; the intent is one whose lease has run out.
    case replacedElsewhere(SessionRecord, intent: RefreshIntent? = nil)
    /// The store that other brokers share was read, or could not be.
    case storeReached(Bool)
    /// There is no memory for the reply to a flight, of which nothing was sent.
    case noRoom(flight: UInt64)
    case refreshSucceeded(flight: UInt64, TokenSet, sentAt: Timestamp)
    case refreshFailed(flight: UInt64, ProviderFailure)
    case tokensReplaced(TokenSet, sentAt: Moment)
    /// The provider has said who the session's user is, in other words than before.
    case userDescribed(User)
    /// A server has demanded something of the next login.
    case loginDemanded(StepUp)
    case logoutWanted(LogoutEvent.Reason)
    /// The provider may have ended the session for this reason: a refusal of its refresh token confirms it.
    case endSuspected(LogoutEvent.Reason?)
    /// The provider has ended the session for this reason.
    case endConfirmed(LogoutEvent.Reason?)
    case loginWaitsEnded(BrokerError)
    /// The first tokens of a session that needs no login have come, by this grant.
    case firstFetched(flight: UInt64, TokenSet, grant: String, sentAt: Moment)
    /// There are none.
    case firstFailed(flight: UInt64, ProviderFailure)
    /// A token that the session's was issued for is another one now.
    case subjectReplaced
    case rulesChanged(SessionRules)
    /// A call, for this profile or another one, has shown that its provider is at least so well.
    case providerSeen(ProviderCondition)
    case clockWasSet
    /// The clocks of others are so far ahead of the wall clock, as two of them agree; nil where they no longer are.
    case clockJudged(Duration?)
    case woken
  }

  /// An action for the runner to carry out.
  package enum Action: Sendable {
    /// Give the caller the current token.
    case answerToken(CallerID, TokenMarks)
    /// Give the caller a token for its target, which is not the session's own.
    case answerOther(CallerID, OtherToken, TokenMarks)
    /// Tell the caller why there is none.
    case answerError(CallerID, BrokerError)
    /// Request the first tokens of a session that needs no login, then tell the machine.
    case requestFirst(flight: UInt64)
    /// Make durable that the refresh token is about to be spent, then tell the machine.
    case openIntent(flight: UInt64, RefreshIntent)
    /// Make durable that the refresh token was certainly not spent.
    case closeIntent
    /// Spend the refresh token, once, for the session's own token or for that of a target.
    case spendRefreshToken(flight: UInt64, BoundToken, target: TokenTarget?)
    /// Make the record durable, then tell the machine, then publish.
    case save(SessionRecord, announcing: [EventPayload])
    /// Try at once to save the record that could not be saved, then tell the machine.
    case saveAgain
    /// Publish an event that needs no durability.
    case publish(EventPayload)
    /// Revoke these tokens at the provider: the session that they are of has ended here.
    ///
    /// `withNextRecord` says that the next record to be saved is that end: what is still to be told is kept with it.
    case discard(TokenSet, withNextRecord: Bool)
    /// Revoke the tokens of a session that a login has replaced, unless that could end the new one; `user` is the user
    /// whose session it was, where that is known.
    case revokeReplaced(TokenSet, user: String?)
  }

  /// A flight whose session is gone before its answer: the tokens that it brings are to be revoked.
  struct LateFlight: Sendable {
    /// The flight.
    let flight: UInt64
    /// The user of that session, where that is known.
    let user: String?
    /// Whether a login has replaced the session, and not a logout or its end.
    let isReplaced: Bool
  }

  /// The end of a session on its way to the store.
  struct Ending: Sendable {
    /// The contents of the record.
    let contents: SessionRecord.Contents
    /// The events about it.
    let events: [EventPayload]
    /// The generation of the record.
    let generation: UInt64
    /// The generation that rested in the store when it was handed out.
    let followed: UInt64
  }

  /// The profile.
  package let profile: ProfileName
  /// The binding of the session.
  package let binding: ProviderBinding
  /// The rules of the configuration.
  package internal(set) var rules: SessionRules
  /// The present phase.
  package internal(set) var phase = Phase.signedOut
  /// The generation of the newest record that was handed out for saving.
  package internal(set) var generation: UInt64 = 0
  /// The newest generation that is durable, or that need not be any more.
  package internal(set) var settledGeneration: UInt64 = 0
  /// The generation of the record that rests in the store, as far as it is known.
  var restingGeneration: UInt64 = 0
  /// Whether other brokers have the session as well, by a store that all of them share.
  package var isShared = false
  /// Whether that store could not be read when it was last asked: nothing is refreshed without it.
  var isStoreAway = false
  /// Whether the session needs no login: its first token is requested where a caller wants one.
  package var isUnattended = false
  /// Whether its token is a secret of the configuration: nothing of it is written down, and only its owner ends it.
  package var isConfigured = false
  /// Whether that secret was begun to be read before the configuration was read again.
  var isReadStale = false
  /// Grows whenever an answer that was rendered before may no longer be true.
  package internal(set) var answerVersion: UInt64 = 0

  /// The identifier of the machine's start that the uptime counts from; nil where it is unknown.
  let boot: String?
  /// How far the clocks of others are ahead of the wall clock, where two of them agree.
  var clockVerdict: Duration?
  /// Names tokens in events, and in reports of clients.
  let tokenID: @Sendable (Secret) -> String
  /// The one flight for all callers, and the facts about the last ones.
  var refresh: RefreshMachine
  /// The one request for the first token of a session that needs no login.
  package internal(set) var first = FirstToken()
  /// The targets of recent tokens, by the tokens' names.
  var names = TokenNames()
  /// The callers that wait for a refresh; none without a living session.
  var demands: [TokenDemand] = []
  /// The callers that wait for a login.
  var demandsForLogin: [TokenDemand] = []
  /// Logins that are being saved.
  var logins = LoginsBeingSaved()
  /// The end of the last session, until it is durable.
  @Boxed var ending: Ending? = nil
  /// Refreshes of earlier sessions whose answer has not come yet; each leaves with its answer.
  var lateFlights: [LateFlight] = []
  /// The uptime before which its provider is not to be asked without a caller's wish, as other profiles have found out.
  package var providerRest = Duration.zero
  /// The random number of the event at hand, from 0 to 1.
  var jitter = 0.5

  /// A machine for a profile without a restored session.
  package init(
    profile: ProfileName, binding: ProviderBinding, rules: SessionRules, boot: String? = nil,
    tokenID: @escaping @Sendable (Secret) -> String
  ) {
    self.boot = boot
    self.profile = profile
    self.binding = binding
    self.rules = rules
    self.tokenID = tokenID
    refresh = RefreshMachine(profile: profile)
  }

  /// Handles an event, and returns the actions in order.
  ///
  /// `jitter` is a random number from 0 to 1, drawn for this event: new tokens are refreshed in the background after a
  /// share of their life that it decides, and a failure rests for a time that it decides.
  package mutating func handle(_ event: Event, at now: Moment, jitter: Double = 0.5) -> [Action] {
    self.jitter = jitter
    followClocks(now)
    let actions = take(event, now)
    if isDescribing { return actions + amend() }
    return life?.owesNote == true ? actions + noteDemand() : actions
  }

  private mutating func take(_ event: Event, _ now: Moment) -> [Action] {
    switch event {
    case .restored(let record, let intent, let flight): return restore(record, intent, flight, now)
    case .mistrusted: return mistrust(now)
    case .loginAccepted(let session, let method, let sentAt, let details):
      return acceptLogin(session, method, details, sentAt ?? now, now)
    case .saved(let generation): return adopt(generation, isDurable: true, now)
    case .saveFailed(let generation): return adopt(generation, isDurable: false, now)
    case .saveRefused(let generation, let lost): return refuse(generation, lost, now)
    case .tokenWanted(let demand): return want(demand, now)
    case .used(let uptime): return noticeUse(min(uptime, now.uptime), now)
    case .waiterLeft(let waiter):
      demands.removeAll { $0.waiter == waiter }
      demandsForLogin.removeAll { $0.waiter == waiter }
      return []
    case .intentSaved(let flight): return spend(flight, now)
    case .intentFailed(let flight): return refuseToSpend(flight, now)
    case .intentHeld, .replacedElsewhere, .storeReached, .storeWentBack: return takeFromOthers(event, now)
    case .noRoom(let flight): return doWithout(flight, now)
    case .refreshSucceeded(let flight, let tokens, let sentAt): return acceptRefresh(flight, tokens, sentAt, now)
    case .refreshFailed(let flight, let failure): return failRefresh(flight, failure, now)
    case .tokensReplaced(let tokens, let sentAt): return replaceTokens(tokens, sentAt, now)
    case .firstFetched, .firstFailed, .subjectReplaced: return takeOfGrant(event, now)
    case .userDescribed(let user): return describe(user)
    case .loginDemanded(let stepUp): return demand(stepUp)
    case .logoutWanted(let reason): return logOut(reason, now)
    case .endSuspected(let reason):
      life?.suspectedEnd = reason
      return []
    case .endConfirmed(let reason): return endElsewhere(reason, now)
    case .loginWaitsEnded(let error): return endLoginWaits(error)
    case .rulesChanged(let rules): return change(rules, now)
    case .providerSeen(let condition): return tryAgain(condition, now)
    case .clockWasSet:
      life?.use.clockWasSet()
      clockVerdict = nil
      return wake(now)
    case .clockJudged(let verdict): return judgeClock(verdict, now)
    case .woken: return wake(now)
    }
  }
}
