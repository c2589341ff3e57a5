import BrokerProtocol

/// The rest of a login's work, done once the store has answered.
enum LoginSettlement: Sendable {
  /// Its session: all callers that wait for the login are answered then.
  case session(IssuedSession, LoginOrigin)
  /// A login that waits for its code or its user: the attempt that has begun it is answered then.
  case pending(PendingLoginStep, attempt: UInt64)
  /// Another code: its caller is answered then.
  case resent(OTPChallenge, to: CallerID)
  /// The end of a login: all callers that wait for its user, or have cancelled it, are answered then.
  case ended(PendingLogin, LoginEnd)
  /// The removal of the records of logins that are over.
  case closed([ProfileName])
}

/// Continuing logins once the store has answered.
extension Broker {
  /// Saves the session of a login, which is answered only after that is durable.
  func accept(
    _ issued: IssuedSession, by method: LoginMethod, _ details: LoginDetails, from origin: LoginOrigin,
    on slot: ProfileSlot
  ) {
    var session = issued.session
    session.seenHabit = slot.view.revocation
    slot.account.backupCodesRemaining = session.backupCodesRemaining
    noteClocks(of: session.tokens, slot)
    handle(.loginAccepted(session, method: method.rawValue, sentAt: issued.sentAt, details: details), on: slot)
    whenSaved(slot, .login(.session(issued, origin)))
  }

  /// Continues the work of a login that waits for a change, which is durable now or has failed.
  func settle(_ settlement: LoginSettlement, _ failure: StoreFailure?) {
    switch settlement {
    case .session(let issued, let origin): settle(issued, from: origin, failure)
    // Where it could not be kept, it goes on from memory.
    case .pending(.code(let challenge), let attempt): finishAttempt(attempt, .success(.otpRequired(challenge)))
    case .pending(.action(let action), let attempt): finishAttempt(attempt, .success(.userActionRequired(action)))
    case .resent(let challenge, let caller):
      guard let principal = callers[caller]?.principal else { return }
      answer(caller, .success(challenge.shown(to: principal)))
    case .ended(let login, let reason): settleEnd(of: login, reason, failure)
    case .closed(let profiles):
      guard failure != nil else { return }
      for profile in profiles { logins.noteUnclosed(profile) }
    }
  }

  private func settle(_ issued: IssuedSession, from origin: LoginOrigin, _ failure: StoreFailure?) {
    let (session, issuer) = (issued.session, issued.issuer)
    let slot = slot(issuer.slot)
    guard failure == nil else {
      // Beside a session that goes on it is left alone: some providers would end that as well.
      let isShared = slot?.records != nil
      conclude(origin, .failure(BrokerError(unwritten: issuer.profile, isShared: isShared)))
      if slot?.machine.living == nil { revokeUnused(session, from: issuer) }
      return
    }
    guard let slot, slot.machine.living?.tokens == session.tokens else {
      conclude(origin, .failure(BrokerError(overtaken: issuer.profile)))
      return revokeUnused(session, from: issuer)
    }
    counts.logins += 1
    slot.provingClient = provingClient(of: origin)
    slot.account.describedAt = session.user.map { _ in now.uptime }
    conclude(origin, .success(.authenticated(describe(slot))))
  }

  /// Answers the callers of a login whose session was saved, or could not be.
  private func conclude(_ origin: LoginOrigin, _ result: Result<LoginProgress, BrokerError>) {
    switch origin {
    case .attempt(let id): finishAttempt(id, result)
    case .pending(let login, let callers):
      for caller in callers { answer(caller, login: result, login.step.clientContext) }
      logins.finish(login.id, result.failure.map { .of($0.kind) })
      answerWaits(for: login, result)
    }
  }

  private func settleEnd(of login: PendingLogin, _ reason: LoginEnd, _ failure: StoreFailure?) {
    if failure != nil { logins.noteUnclosed(login.profile) }
    answerWaits(for: login, .failure(reason.error(login.step)))
    let error = failure.map { _ in BrokerError(.storeFailed, profile: login.profile) }
    for caller in callers.waiting(for: .cancellation(login: login.id)) { acknowledge(caller, error) }
  }
}
