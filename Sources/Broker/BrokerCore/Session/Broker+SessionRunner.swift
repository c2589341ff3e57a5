import BrokerProtocol
import SecretMemory

/// Carrying out the actions of session machines.
extension Broker {
  /// Passes an event to a profile's machine, carries out its actions, and sets its next wake-up.
  func handle(_ event: SessionMachine.Event, on slot: ProfileSlot) {
    let now = self.now
    noticeUse(of: slot, now)
    slot.machine.providerRest = slot.view.rest.end(for: slot.id)
    let (version, wasOffline) = (slot.machine.answerVersion, slot.machine.isOffline)
    let actions = slot.machine.handle(event, at: now, jitter: entropy.fraction())
    if slot.machine.answerVersion != version || slot.machine.isOffline != wasOffline || slot.machine.mustSeeNextUse {
      forgetAnswer(of: slot)
    }
    let hasChanged = slot.machine.answerVersion != version
    for action in actions { run(action, on: slot) }
    slot.rendered.forgetOther()
    if !slot.machine.mayStillSpend { slot.room = nil }
    answerDescriptions(of: slot)
    if hasChanged { followSubjects(slot) }
    if profiles.forgetSettled() { parkLeft() }
    schedule(slot, now)
  }

  /// Lets the machine decide that holds the session of a name, if there is one.
  func handle(_ event: SessionMachine.Event, onProfile name: ProfileName) {
    guard let slot = holder(of: name) else { return }
    handle(event, on: slot)
  }

  /// Tells a machine of uses that were answered from the cache.
  func noticeUse(of slot: ProfileSlot, _ now: Moment) {
    guard let position = profiles.position(of: slot),
      let uptime = answers.takeUse(at: position)
    else { return }
    _ = slot.machine.handle(.used(at: uptime), at: now)
  }

  /// Takes in that a client has used a session without having asked for its token.
  func noteUse(of slot: ProfileSlot) {
    noteVaultUse()
    handle(.used(at: now.uptime), on: slot)
  }

  /// Drops the rendered answers of a profile, which may be out of date.
  func forgetAnswer(of slot: ProfileSlot) {
    guard !slot.rendered.isEmpty else { return }
    slot.rendered.forget()
    if let position = profiles.position(of: slot) { answers.forget(at: position) }
  }

  private func run(_ action: SessionMachine.Action, on slot: ProfileSlot) {
    switch action {
    case .answerToken(let waiter, let marks):
      if callers[waiter] != nil { answer(waiter, token: currentToken(of: slot, marks), as: grant(of: slot)) }
    case .answerOther(let waiter, let token, let marks):
      if callers[waiter] != nil { answer(waiter, token: render(token, marks, of: slot), as: grant(of: slot, token)) }
    case .answerError(let waiter, let error): refuse(waiter, explained(error, slot))
    case .spendRefreshToken(let flight, let token, let target): spend(token, flight, for: target, on: slot)
    case .requestFirst(let flight): requestFirst(flight, on: slot)
    case .openIntent(let flight, let intent):
      slot.view.rest.handle(.asked(slot.id), at: now.uptime)
      reserveRoom(for: flight, on: slot) { broker, slot in broker.open(intent, flight, on: slot) }
    case .closeIntent: change(StoreChange(.note, [.closeIntent(slot.name)], of: slot.name))
    case .save(let record, let events): save(record, announcing: events)
    case .saveAgain: saveAgain(slot.name)
    case .publish(let payload): publish(payload, profile: slot.name)
    case .discard(let tokens, let isBeingKept): revokeLater(tokens, of: slot, isBeingKept: isBeingKept)
    case .revokeReplaced(let tokens, let user): revokeReplaced(tokens, user, on: slot)
    }
  }

  /// A login that waits for its code is a better answer than "log in".
  private func explained(_ error: BrokerError, _ slot: ProfileSlot) -> BrokerError {
    guard let step = logins.step(of: slot.name, at: now.wall) else { return error }
    switch error.kind {
    case .loginRequired, .vaultTampered: return BrokerError(pending: step)
    case .reauthRequired:
      guard let challenge = step.challenge else { return error }
      return BrokerError(reauthentication: challenge)
    default: return error
    }
  }

  private func schedule(_ slot: ProfileSlot, _ now: Moment) {
    slot.timer?.cancel()
    slot.timer = nil
    guard vault.isOpen, profiles.position(of: slot) != nil else { return }
    let name = slot.name
    slot.timer = slot.machine.nextWake(at: now).map { uptime in
      schedule(at: uptime) { $0.wake(name, due: uptime) }
    }
  }

  private func open(_ intent: RefreshIntent, _ flight: UInt64, on slot: ProfileSlot) {
    change(
      StoreChange(.note, [.openIntent(intent)], of: slot.name),
      then: .intent(slot.id, flight: flight, since: now.uptime))
  }

  private func spend(_ refreshToken: BoundToken, _ flight: UInt64, for target: TokenTarget?, on slot: ProfileSlot) {
    // A token that needs no intent needs room for its reply all the same.
    reserveRoom(for: flight, on: slot) { broker, slot in broker.send(refreshToken, flight, for: target, on: slot) }
  }

  private func send(_ refreshToken: BoundToken, _ flight: UInt64, for target: TokenTarget?, on slot: ProfileSlot) {
    counts.refreshes += 1
    slot.view.rest.handle(.asked(slot.id), at: now.uptime)
    let (provider, id) = (slot.provider, slot.id)
    let sentAt = now
    let (room, latest) = (slot.room, slot.latestSending)
    (slot.room, slot.latestSending) = (nil, nil)
    slot.sent = (flight, id)
    if provider.capabilities.grant != nil {
      return request(target ?? TokenTarget(), on: slot, in: room) { broker, result in
        switch result {
        case .success(let tokens): broker.take(tokens, of: flight, sentAt, id, by: provider)
        case .failure(let failure): broker.take(failure, of: flight, id)
        }
      }
    }
    inBackground(.spent, in: room) {
      let result = await Self.answer(of: provider, for: id.profile, by: latest) { provider throws(ProviderFailure) in
        try await Self.ask(provider, refreshToken, target)
      }
      return { broker in
        switch result {
        case .success(let tokens): broker.take(tokens, of: flight, sentAt, id, by: provider)
        case .failure(let failure): broker.take(failure, of: flight, id)
        }
      }
    }
  }

  private func take(
    _ tokens: TokenSet, of flight: UInt64, _ sentAt: Moment, _ id: SlotID, by provider: any AuthProvider
  ) {
    guard let slot = slotAwaiting(id) else {
      if !takeLate(tokens, of: id) { revokeUnused(tokens, at: provider, for: id.profile) }
      return
    }
    noteCall(nil, of: slot.id, isRefresh: true)
    noteClocks(of: tokens, slot)
    handle(.refreshSucceeded(flight: flight, tokens, sentAt: sentAt.wall), on: slot)
  }

  private func take(_ failure: ProviderFailure, of flight: UInt64, _ id: SlotID) {
    if !failure.wantsProof { counts.refreshFailures += 1 }
    guard let slot = slotAwaiting(id) else { return takeLate(failure, of: id) }
    if case .challenged(let challenge) = failure {
      end(flight, with: challenge, on: slot)
    } else {
      handle(.refreshFailed(flight: flight, judged(failure, of: slot)), on: slot)
    }
    noteCall(failure, of: slot.id, isRefresh: true)
  }

  /// The failure as it counts: a refusal that other profiles of the provider get as well counts against no refresh
  /// token.
  private func judged(_ failure: ProviderFailure, of slot: ProfileSlot) -> ProviderFailure {
    guard case .rejected(var rejection) = failure, rejection.isCounted,
      sharedRefusals.note(slot.name, of: slot.machine.binding, at: now.uptime)
    else { return failure }
    rejection.isCounted = false
    return .rejected(rejection)
  }
}
