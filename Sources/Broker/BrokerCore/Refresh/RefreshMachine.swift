package import BrokerProtocol

/// Queries about the machine's state.
extension RefreshMachine {
  /// Whether this flight is being prepared, or on its way.
  func isUnderWay(_ flight: UInt64) -> Bool {
    switch state {
    case .preparing(flight), .sent(flight, _): true
    default: false
    }
  }

  /// Whether the provider cannot be reached, by the last try: until one brings tokens, also while one is under way.
  var isOffline: Bool {
    switch state {
    case .backingOff, .holdingBack: true
    case .preparing, .sent: lost != nil || failuresInARow > 0
    // The broker's own breaker is no outage.
    case .barred: lost != nil
    // The provider may serve the other broker.
    case .awaitingOther: lost != nil
    case .resting, .saving: false
    }
  }
}

/// Decides when the refresh token of a session is sent, and what each answer means: one flight for all callers, none
/// without an intent that outlives a crash, and nothing sent twice while anything could be lost by it.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state; what comes too late changes nothing.
package struct RefreshMachine: Sendable {
  /// The state of a refresh.
  package enum State: Sendable, Equatable {
    /// Nothing is under way. Left when new tokens are wanted, or when an open intent is found.
    case resting
    /// The intent is being made durable. Left when it is or cannot be, when the flight is cancelled, when another broker
    /// may be spending the token, and by other tokens.
    case preparing(flight: UInt64)
    /// Another broker may be spending the token. Left when new tokens are wanted after `until`, and by other tokens.
    case awaitingOther(until: Duration)
    /// The token is on its way. Left by the provider's answer to this flight, and by other tokens.
    case sent(flight: UInt64, at: Moment)
    /// New tokens are here, and being saved. Left when they are the session's.
    case saving
    /// A refresh has failed. Left when new tokens are wanted by the schedule after `until`, or by a caller after
    /// ``RefreshMachine/callersWaitUntil``; `until` is now where the provider is seen in the condition `endsWith`, or
    /// the configuration has changed.
    indirect case backingOff(until: Duration, BrokerError, endsWith: ProviderCondition?)
    /// There were too many refreshes: the breaker is open. Left when new tokens are wanted after `until`.
    indirect case barred(until: Duration, BrokerError)
    /// The token was perhaps spent, and the access token is served to its end. Left when new tokens are wanted after
    /// that; where the access token has no end, after a client has reported it refused.
    case holdingBack
  }

  /// The facts about the session that a refresh depends on.
  package struct Terms: Sendable, Equatable {
    /// The generation of the record whose refresh token it is.
    package var generation: UInt64
    /// Whether a refresh replaces the refresh token, as far as it is known.
    package var rotates: Bool
    /// Whether an intent is written before the token is sent: unless it is certain that the token stays the same.
    package var isJournaled: Bool
    /// For how long the provider takes a spent token once more.
    package var grace: Duration
    /// When the access token ends; nil where it has no end.
    package var accessEnd: Deadline?
    /// Whether a client has reported that the access token is refused.
    package var isAccessTokenRefused: Bool
    /// Whether other brokers have the token as well: no one sends it without an intent of its own.
    package var isShared: Bool

    package init(
      generation: UInt64, rotates: Bool = true, isJournaled: Bool = true, grace: Duration = .zero,
      accessEnd: Deadline?, isAccessTokenRefused: Bool = false, isShared: Bool = false
    ) {
      self.generation = generation
      self.rotates = rotates
      self.isJournaled = isJournaled
      self.grace = grace
      self.accessEnd = accessEnd
      self.isAccessTokenRefused = isAccessTokenRefused
      self.isShared = isShared
    }

    /// Whether there is an access token to be lost: a refused one has ended, whatever its expiry.
    func servesAccessToken(at now: Moment) -> Bool {
      !isAccessTokenRefused && !hasAccessTokenEnded(at: now)
    }

    /// Whether the access token's time is over: that outlives a crash, which a client's report does not.
    func hasAccessTokenEnded(at now: Moment) -> Bool { accessEnd?.hasCome(at: now) ?? false }
  }

  /// An event that drives the machine.
  package enum Event: Sendable, Equatable {
    /// A caller or the schedule wants new tokens.
    case wanted
    /// A caller wants a token of another target, or to know whether the session outlives a refusal for one: that is
    /// counted elsewhere, and not by the session's own breaker.
    case wantedForTarget
    /// The store has an open intent from before the start.
    case intentFound(startedAt: Timestamp)
    /// The intent of the flight is durable.
    case intentSaved(flight: UInt64)
    /// It cannot be made durable.
    case intentFailed(flight: UInt64, jitter: Double)
    /// It is not written: another broker may be spending the token, for so long at most.
    case intentHeld(flight: UInt64, for: Duration)
    /// There is no memory for the reply: nothing was written down or sent.
    case noRoom(flight: UInt64, jitter: Double)
    /// The token is not worth spending any more.
    case cancelled(flight: UInt64)
    /// The provider gave new tokens, which are being saved.
    case succeeded(flight: UInt64)
    /// The provider gave none.
    case failed(flight: UInt64, ProviderFailure, jitter: Double)
    /// The provider has refused the requested target without spending the token; about the session that says nothing.
    case notGranted(flight: UInt64)
    /// Tokens that came by another way are being saved; a flight's answer is not waited for.
    case replaced
    /// The tokens that were being saved are the session's now.
    case settled
    /// There is another session now.
    case began
    /// There is no session any more.
    case ended
    /// A call, for this session or another one, has shown that the provider is at least so well.
    case providerSeen(ProviderCondition)
    /// The profile is configured once more, perhaps otherwise.
    case reconfigured
  }

  /// An action for the runner to carry out.
  package enum Action: Sendable, Equatable {
    /// Make durable that the token is about to be sent, then tell the machine.
    case openIntent(flight: UInt64, RefreshIntent)
    /// Make durable that the token was certainly not spent.
    case closeIntent
    /// Send the token, once.
    case send(flight: UInt64)
    /// Tell the waiting callers why nothing is sent now.
    case refuse(BrokerError)
    /// Report the failure to the waiting callers and all subscribers.
    case report(BrokerError, nextAttemptAt: Timestamp?)
    /// Show the session as expired; its token is tried again.
    case showEnd
    /// End the session; `wantsUser` says that its provider wants to see the user again.
    case end(SessionExpiredEvent.Reason, alert: SecurityAlertEvent.Kind?, wantsUser: Bool, said: ProviderLastWord)
  }

  /// The profile.
  let profile: ProfileName
  /// The present state.
  package internal(set) var state: State = .resting
  /// The earlier refresh whose outcome is unknown; its intent is open in the store.
  package internal(set) var lost: LostReply?
  /// Whether a reply was lost since the last success, also where the token seemed not to rotate: it may be spent.
  var mayHaveSpent = false
  /// The session's breaker against refresh loops.
  var budget = RefreshBudget()
  /// Until when it is known that the breaker is open: it is told once.
  var barredUntil = Duration.zero
  /// Until when a caller's request is refused after a failure, in uptime: a person need not wait as long as the schedule.
  var callersWaitUntil = Duration.zero
  /// Failures since the last success.
  var failuresInARow = 0
  /// How many flights there ever were; names the next one.
  var flights: UInt64 = 0
  /// The run of refusals by the provider; nil where there is none.
  package internal(set) var run: RefusalRun?
  /// How often in a row the provider has wanted another proof of possession.
  var proofsWanted = 0
  /// Whether the flight under way has an intent in the store.
  var hasIntent = false

  /// A machine for a session of a profile.
  package init(profile: ProfileName) { self.profile = profile }

  /// Whether a flight is being prepared, on its way, or being saved.
  package var isUnderWay: Bool {
    switch state {
    case .preparing, .sent, .saving: true
    case .resting, .awaitingOther, .backingOff, .barred, .holdingBack: false
    }
  }

  /// Whether another broker may be spending the token.
  func isAwaitingOther(at now: Moment) -> Bool {
    guard case .awaitingOther(let until) = state else { return false }
    return now.uptime < until
  }

  /// Takes an event in and says what is to be done, in order.
  package mutating func handle(_ event: Event, _ terms: Terms, at now: Moment) -> [Action] {
    switch event {
    case .wanted: return want(terms, now, isCounted: true)
    case .wantedForTarget: return want(terms, now, isCounted: false)
    case .intentFound(let startedAt): return takeUp(startedAt, terms, now)
    case .intentSaved(let flight): return send(flight, terms, now)
    case .intentFailed(let flight, let jitter):
      guard state == .preparing(flight: flight) else { return [] }
      let error = BrokerError(unwritten: profile, isShared: terms.isShared)
      return backOff(Failure(error), jitter, terms, now)
    case .intentHeld(let flight, let rest):
      if state == .preparing(flight: flight) { state = .awaitingOther(until: now.uptime + rest) }
    case .noRoom(let flight, let jitter): return doWithout(flight, jitter, terms, now)
    case .cancelled(let flight): return cancel(flight, terms, now)
    case .succeeded(let flight):
      if case .sent(flight, _) = state { state = .saving }
      return []
    case .failed(let flight, let failure, let jitter): return fail(flight, failure, jitter, terms, now)
    case .notGranted(let flight): return land(flight, terms, now)
    case .replaced: state = .saving
    case .settled: clear()
    case .began, .ended:
      clear()
      budget = RefreshBudget()
      barredUntil = .zero
    case .providerSeen(let condition): endBackOff(condition, now)
    case .reconfigured: forgiveFailures(now)
    }
    return []
  }

  /// The reason why nothing would be sent if new tokens were wanted now; nil where something would be, or is.
  ///
  /// `isForTarget` says that the request is counted elsewhere: the session's own breaker does not stop it. `isUnasked`
  /// says that no caller wants them.
  package func refusal(
    _ terms: Terms, at now: Moment, isForTarget: Bool = false, isUnasked: Bool = false
  ) -> BrokerError? {
    switch state {
    case .backingOff(let until, var error, _):
      let end = isUnasked ? until : min(until, callersWaitUntil)
      guard now.uptime < end else { return nil }
      error.wait(end - now.uptime)
      return error
    case .barred(let until, var error) where now.uptime < until && !(isForTarget && lost == nil):
      error.retryAfter = until - now.uptime
      return error
    case .holdingBack where terms.servesAccessToken(at: now): return outcomeUnknown(terms, now)
    default: return nil
    }
  }

  /// The error for an unknown outcome of the last refresh, with the time of the next try.
  func outcomeUnknown(_ terms: Terms, _ now: Moment) -> BrokerError {
    var error = BrokerError(.refreshOutcomeUnknown, profile: profile)
    if terms.servesAccessToken(at: now) { error.retryAfter = terms.accessEnd?.rest(at: now) }
    return error
  }

  /// Forgets everything but how often the session was refreshed.
  private mutating func clear() {
    state = .resting
    lost = nil
    mayHaveSpent = false
    failuresInARow = 0
    proofsWanted = 0
    run = nil
    hasIntent = false
  }

  /// Clears the state of a session that has ended, and gives the reason.
  mutating func end(
    _ reason: SessionExpiredEvent.Reason, alert: SecurityAlertEvent.Kind? = nil, wantsUser: Bool = false,
    said: ProviderLastWord = ProviderLastWord()
  ) -> [Action] {
    clear()
    return [.end(reason, alert: alert, wantsUser: wantsUser, said: said)]
  }
}
