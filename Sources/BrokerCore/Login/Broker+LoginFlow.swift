import BrokerProtocol

/// Runs what pending logins decide.
extension Broker {
  /// Lets a pending login decide, does what it says, and sets the next wake-up.
  ///
  /// `arrival` is what the event brings.
  func handle(_ event: LoginFlow.Event, onLogin id: String, _ arrival: Arrival? = nil) {
    for action in pendingLogins.handle(event, id, at: now) ?? [] { run(action, id, arrival) }
    schedulePendingLogins()
  }

  /// Saves a session that a login has brought; one that no caller waits for any more is revoked, and so is that of
  /// another user than the expected one: the login has then failed as `otherwise` says.
  func take(
    _ arrival: Arrival, from provider: any AuthProvider, _ event: LoginFlow.Event,
    otherwise failed: LoginFlow.Event, _ id: String, _ profile: ProfileName, _ slot: UInt64
  ) {
    let session = arrival.session
    guard let login = pendingLogins[id]?.login else { return revokeUnused(session, at: provider, profile, slot) }
    guard Self.isProven(session, login.expectedUser) else {
      revokeUnused(session, at: provider, profile, slot)
      return handle(failed, onLogin: id)
    }
    handle(event, onLogin: id, arrival)
  }

  private func run(_ action: LoginFlow.Action, _ id: String, _ arrival: Arrival?) {
    if case .refuse(let callers, let error) = action {
      let error = withRest(of: error, id)
      for caller in callers { refuse(CallerID(caller), error) }
      return
    }
    guard let login = pendingLogins[id]?.login else { return }
    switch action {
    case .stopListening: listeners.removeValue(forKey: id)?.cancel()
    case .end(let reason, let isTold): end(login, reason, isTold: isTold)
    case .detach(let kind):
      pendingLogins.remove(profile: login.profile)
      answerWaits(for: id, .failure(LoginFlow.error(kind, login.step)))
    default:
      // Its profile may have gone from the configuration.
      if let slot = slot(named: login.profile) { run(action, login, on: slot, arrival) }
    }
  }

  /// After the last wrong code, the day's guesses may be used up as well.
  private func withRest(of error: BrokerError, _ id: String) -> BrokerError {
    guard error.kind == .tooManyAttempts, let login = pendingLogins[id]?.login, let slot = slot(named: login.profile),
      let rest = restOfDay(login, on: slot)
    else { return error }
    var error = error
    error.retryAfter = max(error.retryAfter ?? .zero, rest)
    return error
  }

  private func run(_ action: LoginFlow.Action, _ login: PendingLogin, on slot: ProfileSlot, _ arrival: Arrival?) {
    switch action {
    case .check(let guess): check(guess, login, on: slot)
    case .resend: resend(login, on: slot)
    case .poll: poll(login, on: slot)
    case .listen: listen(login, on: slot)
    case .accept(let callers): accept(arrival, login, callers, on: slot)
    case .revoke: if let arrival { revokeUnused(arrival.session, at: slot.provider, slot.name, slot.id) }
    case .keep(let events, let caller):
      if events.contains(where: { $0.name == .loginFailed }) { counts.loginFailures += 1 }
      keep(login.id, on: slot, telling: events) { broker in
        if let caller, let challenge = login.step.challenge {
          broker.answer(Caller<OTPChallenge>(CallerID(caller)), challenge)
        }
      }
    case .refuse, .stopListening, .end, .detach: break
    }
  }

  private func accept(_ arrival: Arrival?, _ login: PendingLogin, _ callers: [UInt64], on slot: ProfileSlot) {
    guard let arrival else { return }
    accept(arrival, method: login.method, pending: login.id, slot) { broker, result in
      for caller in callers { broker.answer(CallerID(caller), login: result) }
      if case .failure(let error) = result {
        broker.pendingLogins.finish(login.id, .of(error.kind))
      } else {
        broker.pendingLogins.finish(login.id, nil)
      }
      broker.answerWaits(for: login.id, result)
    }
  }

  /// Forgets a login; where an event says so, the record goes with it, else with the next change of the profile or by
  /// ``closeLogins()``.
  private func end(_ login: PendingLogin, _ reason: LoginEnd, isTold: Bool) {
    pendingLogins.finish(login.id, reason)
    let error = reason.error(login.step)
    guard isTold else {
      loginsToClose.insert(login.profile)
      return answerWaits(for: login.id, .failure(error))
    }
    counts.loginFailures += 1
    loginsToClose.remove(login.profile)
    let event = EventPayload.loginFailed(LoginFailedEvent(kind: reason.kind.rawValue))
    change(StoreChange(.note, [.closeLogin(login.profile)], telling: [event], of: login.profile)) { broker, failure in
      if failure != nil { broker.closeLaterUnlessWaiting(login.profile) }
      broker.answerWaits(for: login.id, .failure(error))
      for caller in broker.callers.waiting(for: .cancellation(login: login.id)) {
        let error = failure.map { _ in BrokerError(.storeFailed, profile: login.profile) }
        broker.answer(Caller<Empty>(caller), error.map { .failure($0) } ?? .success(Empty()))
      }
    }
  }

  /// Asks the provider whether the user is done, off the loop; the lock does not wait for it, the end of the broker does.
  private func poll(_ login: PendingLogin, on slot: ProfileSlot) {
    let (provider, name, slotID) = (slot.provider, slot.name, slot.id)
    let sentAt = now
    polls += 1
    Task {
      do throws(ProviderFailure) {
        let progress = try await apart { () throws(ProviderFailure) in
          try await provider.require(\.deviceLogin).pollUserAction(flow: login.flow)
        }
        noteCall(nil, of: name, id: slotID)
        switch progress {
        case .pending(let slowsDown): handle(.stillPending(slowsDown: slowsDown), onLogin: login.id)
        case .authenticated(let session):
          let identified = await apart { await Broker.identified(session, login.expectedUser, provider) }
          noteCall(identified.failure, of: name, id: slotID)
          take(
            (identified.session, sentAt), from: provider, .actionDone, otherwise: identified.actionEnd, login.id, name,
            slotID)
        }
      } catch {
        noteCall(error, of: name, id: slotID)
        handle(.actionFailed(error), onLogin: login.id)
      }
      polls -= 1
      if isEnding { restLogins() }
      if !hasWork { whenIdle?() }
    }
  }

  /// Waits for a browser, off the loop, until it has come back or the waiting is cancelled.
  private func listen(_ login: PendingLogin, on slot: ProfileSlot) {
    let (provider, name, slotID) = (slot.provider, slot.name, slot.id)
    listeners[login.id] = Task {
      do throws(ProviderFailure) {
        let session = try await apart { () throws(ProviderFailure) in
          try await provider.require(\.browserLogin).awaitRedirect(flow: login.flow)
        }
        // The waiting was for the browser: how long the provider took after that is not known here.
        let cameAt = now
        noteCall(nil, of: name, id: slotID)
        let identified = await apart { await Broker.identified(session, login.expectedUser, provider) }
        noteCall(identified.failure, of: name, id: slotID)
        take(
          (identified.session, cameAt), from: provider, .actionDone, otherwise: identified.actionEnd, login.id, name,
          slotID)
      } catch {
        // The canceller has decided what becomes of the login.
        guard !Task.isCancelled else { return }
        // What a browser brings, or that none comes, tells nothing of the way to the provider; a call that failed does.
        if NetworkState.Event(error) != .answered { noteCall(error, of: name, id: slotID) }
        handle(.actionFailed(error), onLogin: login.id)
      }
    }
  }
}
