import BrokerProtocol

/// Carrying out the actions of pending logins.
extension Broker {
  /// Passes an event to a pending login, carries out its actions, and sets the next wake-up.
  ///
  /// `issued` is the session that the event brings; where the login is over, it is revoked.
  func handle(_ event: LoginMachine.Event, onLogin id: String, _ issued: IssuedSession? = nil) {
    guard let decision = logins.handle(event, id, at: now) else {
      if let issued { revokeUnused(issued.session, from: issued.issuer) }
      return
    }
    let refuses = decision.actions.contains { if case .refuse = $0 { true } else { false } }
    for action in decision.actions { run(action, decision.login, issued, refuses: refuses) }
    scheduleLogins()
  }

  private func run(_ action: LoginMachine.Action, _ login: PendingLogin, _ issued: IssuedSession?, refuses: Bool) {
    switch action {
    case .refuse(let callers, let error): refuse(callers, error, login)
    case .refuseWaiting(let kind), .detach(let kind):
      answerWaits(for: login, .failure(BrokerError(kind, endOf: login.step)))
    case .stopListening: logins.runs.stopListening(login.id)
    case .end(let reason, let isTold): end(login, reason, isTold: isTold, isRefusal: refuses)
    case .revoke: if let issued { revokeUnused(issued.session, from: issued.issuer) }
    case .check, .resend, .poll, .listen, .accept, .keep:
      // Its profile may have gone from the configuration.
      if let slot = slot(named: login.profile) { run(action, login, on: slot, issued) }
    }
  }

  private func run(
    _ action: LoginMachine.Action, _ login: PendingLogin, on slot: ProfileSlot, _ issued: IssuedSession?
  ) {
    switch action {
    case .check(let guess): check(guess, login, on: slot)
    case .resend(let caller, let channel): resend(login, by: channel, on: slot, for: callers[caller]?.principal.client)
    case .poll: poll(login, on: slot)
    case .listen: listen(login, on: slot)
    case .accept(let callers, let usesBackupCode):
      guard let issued else { return }
      let details = LoginDetails(
        clientContext: login.step.clientContext, beginners: login.step.beginners, usesBackupCode: usesBackupCode)
      accept(issued, by: login.method, details, from: .pending(login, callers: callers), on: slot)
    case .keep(let events, let caller):
      if events.contains(where: { $0.name == .loginFailed }) { counts.loginFailures += 1 }
      var settlement: LoginSettlement?
      if let caller, let challenge = login.step.challenge { settlement = .resent(challenge, to: caller) }
      keep(login, on: slot, telling: events, then: settlement)
    case .refuse, .refuseWaiting, .stopListening, .end, .detach, .revoke: break
    }
  }

  /// Refuses callers that gave a code; after the last wrong one, the day's guesses may be used up as well.
  private func refuse(_ callers: [CallerID], _ error: BrokerError, _ login: PendingLogin) {
    var error = error
    if error.kind == .tooManyAttempts, let slot = slot(named: login.profile), let rest = restOfDay(login, on: slot) {
      error.retryAfter = max(error.retryAfter ?? .zero, rest)
    }
    for caller in callers { refuse(caller, error) }
  }

  /// Passes a code to the provider; where the account has no guess left today, the login ends.
  private func check(_ guess: CodeGuess, _ login: PendingLogin, on slot: ProfileSlot) {
    do throws(BrokerError) {
      try countGuess(login, on: slot)
    } catch {
      let refusal = ProviderFailure.refused(error.kind, retryAfter: error.retryAfter)
      return handle(.codeRefused(guess: guess.id, refusal), onLogin: login.id)
    }
    let (issuer, sentAt, user) = (IssuedSession.Issuer(slot), now, expectedUser(of: login, on: slot))
    ask(slot) { provider throws(ProviderFailure) in
      try await login.session(for: guess, at: provider, expecting: user)
    } then: { broker, slot, result in
      if result.failure?.leavesCodeUnseen ?? true, let slot { broker.refundGuess(login, on: slot) }
      switch result {
      case .success(let identified):
        broker.take(identified, from: issuer, sentAt, for: login) { .codeAccepted(guess: guess.id, $0) }
      case .failure(let failure): broker.handle(.codeRefused(guess: guess.id, failure), onLogin: login.id)
      }
    }
  }

  /// Has the provider send another code.
  private func resend(
    _ login: PendingLogin, by channel: OTPChallenge.Method?, on slot: ProfileSlot, for client: ClientID?
  ) {
    do throws(BrokerError) {
      try admit(.message, login.account, on: slot, for: client)
    } catch {
      let refusal = ProviderFailure.refused(.resendTooSoon, retryAfter: error.retryAfter)
      return handle(.resendFailed(refusal), onLogin: login.id)
    }
    ask(slot, .repeatable) { provider throws(ProviderFailure) in
      try await provider.require(\.codeResending).resendOTP(flow: login.flow, by: channel)
    } then: { broker, _, result in
      switch result {
      case .success(let challenge):
        if challenge.method != .totp { broker.counts.otpResent += 1 }
        broker.handle(.resent(challenge), onLogin: login.id)
      case .failure(let failure): broker.handle(.resendFailed(failure), onLogin: login.id)
      }
    }
  }

  /// Polls the provider for the user action; locking does not wait for it, the end of the broker does.
  private func poll(_ login: PendingLogin, on slot: ProfileSlot) {
    let (issuer, sentAt, user) = (IssuedSession.Issuer(slot), now, expectedUser(of: login, on: slot))
    background.beginPoll()
    askDuringUserAction(slot) { provider throws(ProviderFailure) in
      try await login.progress(at: provider, expecting: user)
    } then: { broker, _, result in
      switch result {
      case .success(.pending(let slowsDown)): broker.handle(.stillPending(slowsDown: slowsDown), onLogin: login.id)
      case .success(.session(let identified)):
        broker.take(identified, from: issuer, sentAt, for: login) { .actionDone($0) }
      case .failure(let failure): broker.handle(.actionFailed(failure), onLogin: login.id)
      }
      broker.background.endPoll()
    }
  }

  /// Waits for a browser until it has come back or the waiting is cancelled.
  private func listen(_ login: PendingLogin, on slot: ProfileSlot) {
    let (issuer, clock, flight) = (IssuedSession.Issuer(slot), self.clock, FlightMark())
    let user = expectedUser(of: login, on: slot)
    let listener = askDuringUserAction(slot, flight) { provider throws(ProviderFailure) in
      try await login.redirect(at: provider, clock, expecting: user)
    } noting: { failure in
      // What a browser brings, or that none comes, tells nothing of the way to the provider; a call that failed does.
      NetworkState.Event(failure) != .answered
    } then: { broker, _, result in
      switch result {
      case .success(let redirect):
        broker.take(redirect.identified, from: issuer, redirect.cameAt, for: login) { .actionDone($0) }
      case .failure(let failure): broker.handle(.actionFailed(failure), onLogin: login.id)
      }
    }
    logins.runs.listen(login.id, listener, flight)
  }

  /// Brings a session to the pending login that it came for.
  private func take(
    _ identified: IdentifiedSession, from issuer: IssuedSession.Issuer, _ sentAt: Moment, for login: PendingLogin,
    as event: (SessionProof) -> LoginMachine.Event
  ) {
    if let doubt = identified.doubt { noteCall(doubt, of: issuer.slot) }
    let issued = IssuedSession(session: identified.session, issuer: issuer, sentAt: sentAt)
    var proof = SessionProof.given
    if let slot = slot(named: login.profile) {
      proof = self.proof(of: identified, login.expectedUser, login.method, login.mayReplace, slot)
    }
    handle(event(proof), onLogin: login.id, issued)
  }

  /// Tells the callers that wait for the user of a login how it ended.
  func answerWaits(for login: PendingLogin, _ result: Result<LoginProgress, BrokerError>) {
    for caller in callers.waiting(for: .userAction(login: login.id)) {
      answer(caller, login: result, callers[caller].flatMap { login.step.context(for: $0.principal) })
    }
  }
}

/// Pending logins in the store, and their ends.
extension Broker {
  /// Makes a login durable that waits, then goes on.
  func keep(
    _ login: PendingLogin, on slot: ProfileSlot, telling events: [EventPayload], then settlement: LoginSettlement?
  ) {
    let record = PendingLoginRecord(binding: slot.provider.binding, login: login)
    let change = StoreChange(.note, [.openLogin(record)], telling: events, of: slot.name)
    self.change(change, then: settlement.map { .login($0) })
  }

  /// Resumes a login that rested in the store.
  func resume(_ record: PendingLoginRecord, on slot: ProfileSlot) {
    let login = record.login
    guard record.binding == slot.provider.binding else { return logins.noteUnclosed(slot.name) }
    guard login.expiresAt > now.wall else {
      let event = EventPayload.loginFailed(LoginFailedEvent(.otpExpired, of: login.step))
      return change(StoreChange(.note, [.closeLogin(slot.name)], telling: [event], of: slot.name))
    }
    logins.insert(login)
    handle(.resumed, onLogin: login.id)
  }

  /// Forgets the pending login of a profile, and answers its waiting callers with the reason.
  ///
  /// The record goes with the next one of the profile, or by ``closeLogins()``.
  func forgetLogin(of profile: ProfileName, _ reason: LoginEnd) {
    guard let id = logins.id(of: profile) else { return }
    handle(.ended(reason, isTold: false), onLogin: id)
  }

  /// Reports the end of a login, and removes its record where an event reports it.
  ///
  /// Where a caller is refused because of it, that call has a line in the log, under the name of its error.
  private func end(_ login: PendingLogin, _ reason: LoginEnd, isTold: Bool, isRefusal: Bool) {
    guard isTold else { return answerWaits(for: login, .failure(reason.error(login.step))) }
    counts.loginFailures += 1
    if !isRefusal, callers.waiting(for: .userAction(login: login.id)).isEmpty {
      notify(.problem(.loginFailed(login.profile, reason.error(login.step))))
    }
    let event = EventPayload.loginFailed(LoginFailedEvent(reason.kind, of: login.step))
    let change = StoreChange(.note, [.closeLogin(login.profile)], telling: [event], of: login.profile)
    self.change(change, then: .login(.ended(login, reason)))
  }

  /// Removes the records of logins that are over.
  func closeLogins() {
    let names = logins.takeAllUnclosed()
    guard !names.isEmpty else { return }
    change(StoreChange(.note, names.map { .closeLogin($0) }, of: nil), then: .login(.closed(names)))
  }

  /// Detaches every login from memory; the store keeps them, and they are resumed from there.
  func detachLogins(_ kind: ErrorKind) {
    for id in logins.ids { handle(.detached(kind), onLogin: id) }
    logins.runs.setTimer(nil)
  }

  /// Ends all waits for users; a provider call that is under way still counts, if it is answered in time.
  func stopWaitingForUsers() {
    logins.beginEnding()
    for id in logins.ids where !logins.runs.isSpending(id) { handle(.brokerEnding, onLogin: id) }
  }

  /// Sets the next wake-up: of a poll that is due, or of a login that no client continues.
  private func scheduleLogins() {
    let wake = vault.isOpen ? logins.nextWake(at: now) : nil
    logins.runs.setTimer(
      wake.map { uptime in
        schedule(at: uptime) { $0.wakeLogins() }
      })
  }

  /// Passes the time to the logins that are due, and sets the next wake-up.
  func wakeLogins() {
    for id in logins.ids { handle(.woken, onLogin: id) }
    scheduleLogins()
  }
}
