package import BrokerProtocol
package import SecretMemory

/// Decides what happens to the session of one profile: one refresh for everybody, nothing told before it is durable.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state; what comes too late changes nothing.
package struct SessionMachine: Sendable {
  /// Where the session stands.
  package enum Phase: Sendable, Equatable {
    /// Nobody is logged in. Left by a login that was saved.
    case signedOut
    /// Tokens can be had. Left by a logout, a definitive refusal, or the end of both tokens.
    case living(LivingSession)
    /// The session ended by itself. Left by a login that was saved, or a logout.
    case ended(SessionExpiredEvent.Reason)
  }

  /// What is under way on a living session.
  package enum Activity: Sendable, Equatable {
    /// Nothing. Left when a token is wanted that is not there, or when a refresh is due.
    case resting
    /// The intent to spend the refresh token is being made durable. Left when it is, or cannot be made so.
    case preparing(flight: UInt64)
    /// The refresh token is on its way to the provider. Left by the provider's answer to this flight.
    case refreshing(flight: UInt64)
    /// New tokens are being saved, and shown to nobody yet. Left when they are saved, or cannot be.
    case saving(LivingSession, generation: UInt64)
    /// The last refresh failed. Left when a token is wanted, or a wake-up comes, after `until`.
    case backingOff(until: Duration, BrokerError)
  }

  /// What happened.
  package enum Event: Sendable {
    case restored(SessionRecord, intent: RefreshIntent?)
    case mistrusted
    case loginAccepted(ProviderSession, method: String)
    case saved(generation: UInt64)
    case saveFailed(generation: UInt64)
    case tokenWanted(TokenDemand)
    case waiterLeft(WaiterID)
    case intentSaved(flight: UInt64)
    case intentFailed(flight: UInt64, jitter: Double)
    case refreshSucceeded(flight: UInt64, TokenSet, sentAt: Timestamp)
    case refreshFailed(flight: UInt64, ProviderFailure, jitter: Double)
    case tokensReplaced(TokenSet, sentAt: Timestamp)
    case logoutWanted(LogoutEvent.Reason)
    case loginWaitsEnded(BrokerError)
    case networkReturned
    case clockWasSet
    case woken
  }

  /// What is to be done.
  package enum Action: Sendable {
    /// Give the caller the current token.
    case answerToken(WaiterID, isOffline: Bool)
    /// Tell the caller why there is none.
    case answerError(WaiterID, BrokerError)
    /// Make durable that the refresh token is about to be spent, then tell the machine.
    case openIntent(flight: UInt64, RefreshIntent)
    /// Make durable that the refresh token was certainly not spent.
    case closeIntent
    /// Spend the refresh token, once.
    case spendRefreshToken(flight: UInt64, Secret)
    /// Make the record durable, then tell the machine, then publish.
    case save(SessionRecord, announcing: [EventPayload])
    /// Try at once to save the record that could not be saved, then tell the machine.
    case saveAgain
    /// Publish what needs no durability.
    case publish(EventPayload)
  }

  /// The profile.
  package let profile: ProfileName
  /// What the session is bound to.
  package let binding: ProviderBinding
  /// When tokens are good enough.
  package var policy: ExpiryPolicy
  /// Where the session stands.
  package internal(set) var phase: Phase = .signedOut
  /// What is under way.
  package internal(set) var activity: Activity = .resting
  /// The generation of the newest record that was handed out for saving.
  package internal(set) var generation: UInt64 = 0
  /// Whether the newest tokens could not be saved yet.
  package internal(set) var isStoreDegraded = false
  /// Whether the refresh token may have been spent without our having its successor; its intent is open in the store.
  package internal(set) var isOutcomeUnknown = false
  /// Whether what rests in the store of this profile is not what was written.
  package internal(set) var isMistrusted = false

  /// Names tokens in events.
  let tokenID: @Sendable (Secret) -> String
  /// Callers who wait for a refresh.
  var demands: [TokenDemand] = []
  /// Callers who wait for a login.
  var demandsForLogin: [TokenDemand] = []
  /// A login that is being saved.
  var pendingLogin: (session: LivingSession, generation: UInt64)?
  /// The breaker against refresh loops.
  var budget = RefreshBudget()
  /// Failures since the last success.
  var failuresInARow = 0
  /// How many refreshes were sent; names the next one.
  var flights: UInt64 = 0
  /// The answer of a flight that landed while a login was being saved: it counts only if the login fails.
  var heldAnswer: Event?
  /// The newest generation that is durable, or that nothing needs to be any more.
  package internal(set) var settledGeneration: UInt64 = 0
  /// Whether anybody has asked for a token since the broker started, or logged in: what nobody uses is not refreshed in
  /// the background.
  var isInUse = false

  /// A machine for a profile of which nothing is known yet.
  package init(
    profile: ProfileName, binding: ProviderBinding, policy: ExpiryPolicy,
    tokenID: @escaping @Sendable (Secret) -> String
  ) {
    self.profile = profile
    self.binding = binding
    self.policy = policy
    self.tokenID = tokenID
  }

  /// Takes an event in and says what is to be done, in order.
  package mutating func handle(_ event: Event, at now: Moment) -> [Action] {
    switch event {
    case .restored(let record, let intent): return restore(record, intent, now)
    case .mistrusted:
      mistrust(now)
      return []
    case .loginAccepted(let session, let method): return acceptLogin(session, method, now)
    case .saved(let generation): return adopt(generation, isDurable: true, now)
    case .saveFailed(let generation): return adopt(generation, isDurable: false, now)
    case .tokenWanted(let demand): return want(demand, now)
    case .waiterLeft(let waiter):
      demands.removeAll { $0.waiter == waiter }
      demandsForLogin.removeAll { $0.waiter == waiter }
      return []
    case .intentSaved(let flight): return spend(flight, now)
    case .intentFailed(let flight, let jitter): return refuseToSpend(flight, jitter, now)
    case .refreshSucceeded(let flight, let tokens, let sentAt): return acceptRefresh(flight, tokens, sentAt, now)
    case .refreshFailed(let flight, let failure, let jitter): return failRefresh(flight, failure, jitter, now)
    case .tokensReplaced(let tokens, let sentAt): return replaceTokens(tokens, sentAt, now)
    case .logoutWanted(let reason): return logOut(reason, now)
    case .loginWaitsEnded(let error):
      let waiting = demandsForLogin
      demandsForLogin = []
      return waiting.map { .answerError($0.waiter, error) }
    case .networkReturned: return tryAgain(now)
    case .clockWasSet, .woken: return wake(now)
    }
  }

  /// The session's tokens and what is known about it; nil where there is none.
  package var living: LivingSession? {
    guard case .living(let session) = phase else { return nil }
    return session
  }

  /// When the machine wants to be woken; nil where nothing is to come.
  package func nextWake(at now: Moment) -> Duration? {
    guard let living else { return nil }
    guard pendingLogin == nil else { return nil }
    let end = living.endsAt.map { now.uptime(of: $0) }
    switch activity {
    case .preparing, .refreshing, .saving: return nil
    case .backingOff(let until, _):
      guard policy.refreshesInBackground else { return end.map { max($0, until) } }
      return end.map { min(max($0, now.uptime), until) } ?? until
    case .resting:
      let mayRefresh = isInUse && !isStoreDegraded && living.refreshObstacle(at: now.wall) == nil
      let due = mayRefresh ? policy.refreshDue(living) : nil
      let wakes = [end, due.map { now.uptime(of: $0) }].compactMap(\.self)
      return wakes.min()
    }
  }
}
