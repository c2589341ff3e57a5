package import BrokerProtocol

/// How pending logins are waited for, listed and cancelled, how they outlive the process, and how they end.
extension Broker {
  /// Waits until the user has done what a login asked of them; the login goes on without the waiting callers.
  package func awaitLogin(_ params: AwaitLogin.Params, _ caller: Caller<LoginResult>) {
    let id = params.loginFlowID
    guard let flow = pendingLogins.find(id, at: now.wall), flow.login.step.action != nil else {
      return answer(caller, pastResult(of: id))
    }
    callers.update(caller.id) { $0.wait = .userAction(login: id) }
    if let timeout = params.timeout { limit(caller.id, to: timeout) }
  }

  /// How a login ended that is over: its user may have been quicker than the caller.
  private func pastResult(of id: String) -> Result<LoginResult, BrokerError> {
    guard let ending = pendingLogins.ending(of: id, at: now.wall) else { return .failure(BrokerError(.flowNotFound)) }
    if let failure = ending.failure { return .failure(failure.error(ending.step)) }
    guard let slot = slot(named: ending.step.profile), slot.machine.living != nil else {
      return .failure(BrokerError(.flowNotFound, profile: ending.step.profile))
    }
    return .success(.authenticated(describe(slot)))
  }

  /// Tells everyone who waits for the user of a login how it ended.
  func answerWaits(for id: String, _ result: Result<LoginResult, BrokerError>) {
    for caller in callers.waiting(for: .userAction(login: id)) { answer(caller, login: result) }
  }

  /// Ends a login that waits; everyone who waits for it is told `cancelled`.
  package func cancelLogin(_ params: CancelLogin.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    guard (params.otpFlowID == nil) != (params.loginFlowID == nil) else {
      throw Self.misfit("/loginFlowId", "Exactly one of the parameters /otpFlowId and /loginFlowId must be present.")
    }
    let id = params.otpFlowID ?? params.loginFlowID ?? ""
    guard let flow = pendingLogins.find(id, at: now.wall), flow.stage != .accepting,
      (flow.login.step.action != nil) == (params.loginFlowID != nil)
    else { throw BrokerError(.flowNotFound) }
    callers.update(caller.id) { $0.wait = .cancellation(login: id) }
    handle(.ended(.of(.cancelled), isTold: true), onLogin: id)
  }

  /// The login of a profile that waits, if there is one.
  package func listPendingLogins(
    _ params: ProfileParams, _ caller: Caller<ListPendingLogins.Result>
  ) throws(BrokerError) {
    let slot = try slot(for: params.profile)
    let steps = [pendingLogins.step(of: slot.name, at: now.wall)].compactMap(\.self)
    answer(caller, ListPendingLogins.Result(logins: steps))
  }
}

/// How pending logins outlive the process, and how they end.
extension Broker {
  /// Makes a login durable that waits, then goes on; where it cannot be, it goes on from memory.
  func keep(
    _ id: String, on slot: ProfileSlot, telling events: [EventPayload] = [],
    _ done: @escaping @Sendable (isolated Broker) -> Void = { _ in }
  ) {
    guard let login = pendingLogins[id]?.login else { return done(self) }
    loginsToClose.remove(slot.name)
    let record = PendingLoginRecord(binding: slot.provider.binding, login: login)
    change(StoreChange(.note, [.openLogin(record)], telling: events, of: slot.name)) { broker, _ in done(broker) }
  }

  /// Resumes a login that rested in the store.
  func resume(_ record: PendingLoginRecord, on slot: ProfileSlot) {
    let login = record.login
    guard record.binding == slot.provider.binding else {
      loginsToClose.insert(slot.name)
      return
    }
    guard login.expiresAt > now.wall else {
      let event = EventPayload.loginFailed(LoginFailedEvent(kind: ErrorKind.otpExpired.rawValue))
      return change(StoreChange(.note, [.closeLogin(slot.name)], telling: [event], of: slot.name))
    }
    pendingLogins.insert(login)
    handle(.resumed, onLogin: login.id)
  }

  /// Forgets the login of a profile that waits, and tells its waiting callers why.
  ///
  /// The record goes with the next one of the profile, or by ``closeLogins()``.
  func forgetLogin(of profile: ProfileName, _ reason: LoginEnd) {
    guard let id = pendingLogins.id(of: profile) else { return }
    handle(.ended(reason, isTold: false), onLogin: id)
  }

  /// Removes the records of logins that are over.
  func closeLogins() {
    let names = loginsToClose.sorted()
    loginsToClose = []
    guard !names.isEmpty else { return }
    change(StoreChange(.note, names.map { .closeLogin($0) }, of: nil)) { broker, failure in
      guard failure != nil else { return }
      for name in names { broker.closeLaterUnlessWaiting(name) }
    }
  }

  /// Takes in that the record of a login that is over could not be removed: it goes with the next change of the profile,
  /// unless another login has taken its place.
  func closeLaterUnlessWaiting(_ profile: ProfileName) {
    if pendingLogins.id(of: profile) == nil { loginsToClose.insert(profile) }
  }

  /// Detaches every login from memory; the store keeps them, and they are resumed from there.
  func detachLogins(_ kind: ErrorKind) {
    for id in pendingLogins.ids { handle(.detached(kind), onLogin: id) }
    pendingLoginTimer?.cancel()
    pendingLoginTimer = nil
  }

  /// Waits for no user any more; what the provider is just being asked is taken in still, if it comes in time.
  func restLogins() {
    isEnding = true
    for id in pendingLogins.ids {
      switch pendingLogins[id]?.stage {
      case .resting, .listening: handle(.detached(.shuttingDown), onLogin: id)
      case .asking:
        if let login = pendingLogins[id]?.login {
          answerWaits(for: id, .failure(LoginFlow.error(.shuttingDown, login.step)))
        }
      default: break
      }
    }
  }

  /// Sets the next wake-up: of a question that is due, or of a login that no client continues.
  func schedulePendingLogins() {
    pendingLoginTimer?.cancel()
    pendingLoginTimer = nil
    guard vault.isOpen else { return }
    pendingLoginTimer = pendingLogins.nextWake(at: now).map { uptime in
      clock.schedule(at: uptime) { [weak self] in
        self?.assumeIsolated { $0.wakePendingLogins() }
      }
    }
  }

  /// Does what is due, and sets the next wake-up.
  func wakePendingLogins() {
    for id in pendingLogins.ids { handle(.woken, onLogin: id) }
    schedulePendingLogins()
  }
}
