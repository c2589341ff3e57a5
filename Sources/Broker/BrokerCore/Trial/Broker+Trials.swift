package import BrokerProtocol
import SecretMemory

/// Trials of providers.
extension Broker {
  /// The time after which a trial ends that no client has asked about: the client that began it is gone.
  private static let trialPatience = Duration.seconds(30)
  /// The same, while a person reads a code: twice as long as codes usually live.
  private static let codePatience = Duration.seconds(600)
  /// No answer waits longer: as `getAccessToken` by default.
  private static let longestWait = ContinueTrial.Params.standardTimeout

  /// Begins a trial, which goes on by itself from now on; neither the vault nor the profile's session is touched.
  package func tryProvider(_ params: TryProvider.Params, _ caller: Caller<ProviderTrialState>) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    let login = Login.Params(
      profile: params.profile, method: params.method, email: params.email, password: params.password,
      phoneNumber: params.phoneNumber, refreshToken: params.refreshToken)
    let method = try LoginMethodChoice.method(for: login, offered: slot.provider.loginForms, profile: slot.name)
    try ledger.require(.trials, trials.count + 1, of: slot.name)
    try admitLogin(params.email ?? params.phoneNumber, on: slot, for: caller.principal.client)
    var options = TrialOptions()
    options.triesWrongPassword = params.triesWrongPassword
    options.replaysToken = params.replaysToken
    var credentials = Credentials(
      method: method, email: params.email, password: params.password, phoneNumber: params.phoneNumber,
      refreshToken: params.refreshToken)
    credentials.replacesPending = false
    let trial = TrialSlot(
      entropy.handle(), slot.name, slot.provider, caller.principal.client,
      trialType.init(of: slot.provider, slot.machine.rules, credentials, options))
    trials[trial.id] = trial
    trial.findings = trial.trial.begin(at: now.wall)
    keepAlive(trial)
    carryOn(trial)
    answer(caller, ProviderTrialState(trialID: trial.id, findings: [], step: .provider))
  }

  /// Answers with the new findings of a trial, once there are any; passes a code to it, or ends it.
  package func continueTrial(_ params: ContinueTrial.Params, _ caller: Caller<ProviderTrialState>) throws(BrokerError) {
    guard let slot = trials[params.trialID], view(of: caller.principal).sees(slot.profile) else {
      throw BrokerError(.flowNotFound, "The trial is unknown; it may have ended.")
    }
    if let answer = TrialCodeAnswer(params) { try admit(answer, ofTrialOn: slot.profile, for: caller.principal.client) }
    // One at a time: an earlier question is answered with what there is.
    tell(slot, evenNothing: true)
    slot.caller = caller
    keepAlive(slot)
    if let answer = TrialCodeAnswer(params) {
      slot.findings += slot.trial.enter(answer.normalized(for: slot.provider), at: now.wall)
      slot.isToldOfWait = false
    }
    if params.stops { stop(slot) }
    carryOn(slot)
    guard slot.caller != nil else { return }
    let id = slot.id
    slot.answerTimer = schedule(at: now.uptime + min(params.timeout, Self.longestWait)) { broker in
      if let slot = broker.trials[id] { broker.tell(slot, evenNothing: true) }
    }
  }

  /// Ends every trial: the broker is ending.
  package func stopTrials() {
    for slot in trials.values {
      stop(slot)
      carryOn(slot)
      // What is under way may bring a session, which is to be ended then.
      if let asking = slot.asking { finish(asking) }
    }
  }

  private func stop(_ slot: TrialSlot) {
    slot.wait?.cancel()
    slot.wait = nil
    slot.findings += slot.trial.stop(at: now.wall)
  }

  /// Carries out a trial's next order, and reports new findings.
  private func carryOn(_ slot: TrialSlot) {
    switch slot.trial.order {
    case .ask(let request) where slot.asking == nil: ask(request, slot)
    case .awaitUser(let action) where slot.wait == nil: awaitUser(action, slot)
    default: break
    }
    tell(slot, evenNothing: false)
  }

  private func ask(_ request: TrialRequest, _ slot: TrialSlot) {
    let (provider, profile, type) = (slot.provider, slot.profile, trialType)
    let asking = Task {
      if let duration = request.pause {
        let pause = Pause()
        slot.pause = pause
        await end(pause, after: duration)
        slot.pause = nil
      }
      let answer = await apart { await ProviderCall.run(for: profile) { await type.ask(provider, request) } }
      guard trials[slot.id] != nil else { return }
      noteSentCode(request, answer, slot)
      slot.asking = nil
      slot.isToldOfWait = false
      slot.findings += slot.trial.take(answer, at: now.wall)
      carryOn(slot)
    }
    slot.asking = asking
    // Locking does not wait for a trial; the end of the broker does, where a session is being ended.
    if case .revoke = request { finish(asking) }
  }

  /// Counts a code that a trial's login has sent, like that of any other login.
  private func noteSentCode(_ request: TrialRequest, _ answer: TrialAnswer, _ trial: TrialSlot) {
    guard case .login(let credentials) = request, case .login(.success(.otpRequired(let challenge))) = answer,
      let slot = slot(named: trial.profile)
    else { return }
    noteSentCode(challenge.method, for: trial.client, to: credentials.email ?? credentials.phoneNumber, on: slot)
  }

  /// Keeps the broker from ending before a call of a trial has.
  private func finish(_ asking: Task<Void, Never>) {
    inBackground {
      await asking.value
      return { _ in }
    }
  }

  /// Waits for a pause to end, by its time or earlier where the task is cancelled.
  ///
  /// By the core's own clock: a sleeping task would need the global pool, and a timer of its own.
  @discardableResult
  private func end(_ pause: Pause, after duration: Duration) async -> Bool {
    let timer = clock.schedule(at: clock.uptime + duration) { pause.end(isWhole: true) }
    let isWhole = await pause.value
    timer.cancel()
    return isWhole
  }

  private func awaitUser(_ action: ProviderUserAction, _ slot: TrialSlot) {
    let (provider, profile, type, clock) = (slot.provider, slot.profile, trialType, clock)
    slot.wait = Task {
      let result = await apart {
        await ProviderCall.run(for: profile) {
          await type.awaitUser(action, provider) {
            clock.now
          } pause: {
            await self.end(Pause(), after: $0)
          }
        }
      }
      guard !Task.isCancelled, trials[slot.id] != nil else {
        // No caller waits for it any more.
        if case .success(let session) = result { revokeUnused(session.tokens, at: provider, for: profile) }
        return
      }
      slot.wait = nil
      slot.findings += slot.trial.take(.session(result), at: now.wall)
      carryOn(slot)
    }
  }

  /// Answers the caller, where there are findings, and forgets a trial that is over.
  private func tell(_ slot: TrialSlot, evenNothing: Bool) {
    let step = step(slot)
    let isNews: Bool
    switch step {
    case .provider: isNews = !slot.findings.isEmpty
    case .code, .user: isNews = !slot.findings.isEmpty || !slot.isToldOfWait
    case .none: isNews = true
    }
    guard isNews || evenNothing, let caller = slot.caller else { return }
    slot.caller = nil
    slot.answerTimer?.cancel()
    slot.answerTimer = nil
    slot.isToldOfWait = step != .provider
    let findings = slot.findings
    slot.findings = []
    if step == .none { forget(slot) } else { keepAlive(slot) }
    answer(caller, ProviderTrialState(trialID: slot.id, findings: findings, step: step))
  }

  private func step(_ slot: TrialSlot) -> ProviderTrialState.Step {
    switch slot.trial.order {
    case .ask: .provider
    case .awaitCode(let challenge): .code(challenge.described(id: slot.id, profile: slot.profile))
    case .awaitUser(let action): .user(action.described(id: slot.id, profile: slot.profile))
    case .end: .none
    }
  }

  private func forget(_ slot: TrialSlot) {
    slot.idleTimer?.cancel()
    trials[slot.id] = nil
  }

  /// Restarts the timer that ends a trial without questions.
  private func keepAlive(_ slot: TrialSlot) {
    slot.idleTimer?.cancel()
    let id = slot.id
    var patience = Self.trialPatience
    if case .awaitCode = slot.trial.order { patience = Self.codePatience }
    slot.idleTimer = schedule(at: now.uptime + patience) { $0.cancelUnattended(id) }
  }

  /// Ends a trial that no client asks about; its session is ended first, where there is one.
  private func cancelUnattended(_ id: String) {
    guard let slot = trials[id] else { return }
    stop(slot)
    guard case .end = slot.trial.order else {
      carryOn(slot)
      return keepAlive(slot)
    }
    forget(slot)
  }
}
