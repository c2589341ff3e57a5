package import BrokerProtocol
package import SecretMemory

/// One caller who waits for a token.
struct Waiter {
  /// Who gets the answer.
  let reply: Broker.Reply<Secret>
  /// Whose token is waited for.
  let profile: ProfileName
  /// Ends the waiting.
  let deadline: TimerCancellation
}

/// How callers get tokens.
extension Broker {
  /// Gives a token that is good enough, refreshing it first where it is not.
  ///
  /// The reply is the JSON of an ``AccessToken``. The returned name takes the request back: see ``abandon(_:)``.
  package func accessToken(_ params: GetAccessToken.Params, _ reply: @escaping Reply<Secret>) -> WaiterID? {
    do throws(BrokerError) {
      try requireUnlocked()
      let slot = try slot(for: params.profile)
      let target = try target(params.scopes, params.audience, on: slot)
      return wait(on: slot, timeout: params.timeout, reply) { waiter in
        .tokenWanted(
          TokenDemand(
            waiter: waiter, minValidity: params.minValidity, forcesRefresh: params.forceRefresh,
            waitsForLogin: params.waitForLogin, target: target, isGivable: canGive(target, slot)))
      }
    } catch {
      reply(.failure(error))
      return nil
    }
  }

  private func wait(
    on slot: ProfileSlot, timeout: Duration, _ reply: @escaping Reply<Secret>,
    _ event: (WaiterID) -> SessionMachine.Event
  ) -> WaiterID? {
    waiterCount += 1
    let waiter = WaiterID(waiterCount)
    /// Ends the waiting.
    let deadline = clock.schedule(at: now.uptime + timeout) { [weak self] in
      self?.assumeIsolated { $0.expire(waiter) }
    }
    waiters[waiter] = Waiter(reply: reply, profile: slot.name, deadline: deadline)
    handle(event(waiter), on: slot)
    return waiters[waiter] == nil ? nil : waiter
  }

  private func expire(_ waiter: WaiterID) {
    guard let entry = waiters[waiter] else { return }
    abandon(waiter)
    entry.reply(.failure(BrokerError(.deadlineExceeded, profile: entry.profile)))
  }

  /// Forgets a caller; what was begun for it goes on.
  package func abandon(_ waiter: WaiterID) {
    loginWaits.removeValue(forKey: waiter)?.deadline?.cancel()
    forgetCodeCaller(waiter)
    guard let entry = waiters.removeValue(forKey: waiter) else { return }
    entry.deadline.cancel()
    handle(.waiterLeft(waiter), onProfile: entry.profile)
  }

  /// Gives a caller the answer, once; one who has left is known no more.
  func answer(_ waiter: WaiterID, _ result: Result<Secret, BrokerError>) {
    guard let entry = waiters.removeValue(forKey: waiter) else { return }
    entry.deadline.cancel()
    entry.reply(result)
  }

  /// The rendered current token; it is kept for the hot path where it is an ordinary answer.
  func currentToken(of slot: ProfileSlot, isOffline: Bool) -> Result<Secret, BrokerError> {
    guard let living = slot.machine.living else { return .failure(BrokerError(.loginRequired, profile: slot.name)) }
    counts.tokens += 1
    if !isOffline, let rendered = slot.rendered { return .success(rendered) }
    let tokens = living.tokens
    let token = AccessToken(
      accessToken: tokens.accessToken, expiresAt: tokens.accessTokenExpiresAt, scopes: tokens.scopes,
      profile: slot.name, tokenID: entropy.tokenID(of: tokens.accessToken), isOffline: isOffline)
    guard let json = try? CachedAnswer.render(token) else {
      return .failure(BrokerError(.overloaded, BrokerError.secretMemoryMessage, profile: slot.name))
    }
    guard !isOffline, !slot.machine.mustSeeNextUse else { return .success(json) }
    slot.rendered = json
    let end = slot.machine.accessTokenEnd
    let lifetime = tokens.accessTokenExpiresAt.map { $0 - living.issuedAt }
    let answer = CachedAnswer(json: json, end: end, lifetime: lifetime, rules: slot.machine.rules)
    if let position = index.find(slot.name) { answers.set(answer, at: position, usedAt: now.uptime) }
    return .success(json)
  }

  /// Takes the report that a server refused a token, and gives the one to use instead: one for the same target.
  package func reportRejected(_ params: ReportRejected.Params, _ reply: @escaping Reply<Secret>) -> WaiterID? {
    do throws(BrokerError) {
      try requireUnlocked()
      let slot = try slot(for: params.profile)
      guard params.status == 401 || params.status == 403 else {
        throw Self.misfit("/status", "The parameter /status must be 401 or 403.")
      }
      guard params.accessToken != nil || params.tokenID != nil else {
        throw Self.misfit("/accessToken", "One of the parameters /accessToken and /tokenId must be present.")
      }
      let report = try report(params, on: slot)
      publishRefusal(params.status, on: slot)
      let isRefused = params.status == 401 && report.isCurrent
      return wait(on: slot, timeout: .seconds(25), reply) { waiter in
        .tokenWanted(
          TokenDemand(
            waiter: waiter, minValidity: .zero, forcesRefresh: isRefused, isRefused: isRefused, target: report.target,
            isGivable: canGive(report.target, slot)))
      }
    } catch {
      reply(.failure(error))
      return nil
    }
  }

  /// The error of one parameter.
  static func misfit(_ pointer: String, _ message: String) -> BrokerError {
    var error = BrokerError(.invalidParams, message)
    error.pointer = pointer
    return error
  }

  /// At most one such event a profile and minute: a loop of refused calls must not become a flood of events.
  func publishRefusal(_ status: Int, on slot: ProfileSlot) {
    guard slot.machine.living != nil else { return }
    let event = RefusalEvent(status: status)
    let payload: EventPayload = status == 403 ? .forbidden(event) : .unauthorized(event)
    let uptime = now.uptime
    if let last = slot.lastRefusal[payload.name], uptime - last < .seconds(60) { return }
    slot.lastRefusal[payload.name] = uptime
    publish(payload, profile: slot.name)
  }

  /// Tells everybody who waits for a login that none will come; logins that wait for their user rest in the store.
  package func refuseLoginWaiters() {
    for slot in slots { handle(.loginWaitsEnded(BrokerError(.shuttingDown, profile: slot.name)), on: slot) }
    restLogins()
  }
}
