package import BrokerProtocol
import SecretMemory

/// How people log in.
extension Broker {
  /// A session that a provider has given, and when it was asked for.
  typealias Arrival = (session: ProviderSession, sentAt: Moment)

  /// How a login that a session came from is ended: with an answer for everyone who waits for it.
  typealias LoginCompletion = @Sendable (isolated Broker, Result<LoginResult, BrokerError>) -> Void

  /// Begins a login; a login that is equal to one under way shares its answer.
  package func login(_ params: Login.Params, _ caller: Caller<LoginResult>) throws(BrokerError) {
    let slot = try slot(for: params.profile)
    let scopes = try TokenTarget.scopes(params.scopes)
    let method = try LoginMethodChoice.method(
      for: params, offered: slot.provider.loginMethods, profile: slot.name)
    let credentials = Credentials(
      method: method, email: params.email, password: params.password, phoneNumber: params.phoneNumber,
      refreshToken: params.refreshToken, scopes: scopes)
    try begin(slot, credentials, as: nil, caller)
  }

  /// Makes an account and logs in; a caller that cancels leaves the account that was made.
  package func register(_ params: Register.Params, _ caller: Caller<LoginResult>) throws(BrokerError) {
    let slot = try slot(for: params.profile, able: .register)
    let registration = Registration(
      email: params.email, password: params.password, name: params.name, phoneNumber: params.phoneNumber)
    let provider = slot.provider
    try requireToken(for: .message, params.email, on: slot)
    try begin(slot, LoginAttempt.Plan(account: params.email), caller) { () async throws(ProviderFailure) in
      (try await provider.register(registration), nil)
    }
    try admit(.message, params.email, on: slot)
  }

  /// How many callers wait for a login, or for the answer to a code.
  package var waitingCallerCount: Int {
    callers.countOfLogins + pendingLogins.ids.compactMap { pendingLogins[$0]?.callerCount }.reduce(0, +)
  }

  /// Begins a login with these credentials, unless an equal one is under way; `user` is whose session it must bring.
  ///
  /// - Throws: `overloaded`; `rateLimited` and `tooManyAttempts`, with the time to wait.
  func begin(
    _ slot: ProfileSlot, _ credentials: Credentials, as user: ExpectedUser?, _ caller: Caller<LoginResult>
  ) throws(BrokerError) {
    let question = LoginAttempt.Question(credentials, slot.name, user)
    guard !attempts.join(caller.id, question, on: slot) else { return callers.update(caller.id) { $0.wait = .login } }
    let provider = slot.provider
    let account = credentials.email ?? credentials.phoneNumber
    let plan = LoginAttempt.Plan(
      method: credentials.method, question: question, expectedUser: user, account: account)
    try begin(slot, plan, caller) { () async throws(ProviderFailure) in
      let outcome = try await provider.login(credentials)
      guard case .authenticated(let session) = outcome else { return (outcome, nil) }
      let identified = await Broker.identified(session, user, provider)
      return (.authenticated(identified.session), identified.failure)
    }
  }

  /// Lets the provider try, off the loop.
  private func begin(
    _ slot: ProfileSlot, _ plan: LoginAttempt.Plan, _ caller: Caller<LoginResult>,
    _ ask: @escaping @Sendable () async throws(ProviderFailure) -> (LoginOutcome, doubt: ProviderFailure?)
  ) throws(BrokerError) {
    try ledger.require(.loginsUnderWay, attempts.count(on: slot) + 1, of: slot.name)
    try admitLogin(plan.account, on: slot)
    let id = attempts.begin(plan, on: slot, for: caller.id, of: servedClient, at: now)
    callers.update(caller.id) { $0.wait = .login }
    let (name, slotID, provider) = (slot.name, slot.id, slot.provider)
    inBackground {
      do throws(ProviderFailure) {
        let (outcome, doubt) = try await ask()
        return { broker in
          broker.noteCall(doubt, of: name, id: slotID)
          broker.proceed(outcome, doubt, id, provider)
        }
      } catch {
        return { broker in
          broker.noteCall(error, of: name, id: slotID)
          broker.refuse(error, id)
        }
      }
    }
  }

  /// Gives everybody who waits for an attempt its answer: until then, an equal login shares it.
  private func finish(_ id: UInt64, _ result: Result<LoginResult, BrokerError>) {
    for caller in attempts.finish(id) { answer(caller, login: result) }
  }

  /// Goes on with what the provider has answered; `doubt` is why it did not say whose session it is.
  private func proceed(
    _ outcome: LoginOutcome, _ doubt: ProviderFailure?, _ id: UInt64, _ provider: any AuthProvider
  ) {
    guard let attempt = attempts[id] else { return }
    let profile = attempt.profile
    guard let slot = slot(named: profile, id: attempt.slot), slot.logouts == attempt.logouts, !attempt.isCancelled
    else {
      // First, so that the end of its session is not kept back for an attempt that is over.
      finish(id, .failure(overtaken(profile)))
      if case .authenticated(let session) = outcome { revokeUnused(session, at: provider, profile, attempt.slot) }
      return
    }
    attempts.noteAnswered(id)
    let plan = attempt.plan
    switch outcome {
    case .authenticated(let session) where !Self.isProven(session, plan.expectedUser):
      revokeUnused(session, at: provider, profile, attempt.slot)
      refuse(doubt ?? .refused(.accessDenied), id)
    case .authenticated(let session):
      accept((session, attempt.sentAt), method: plan.method, slot) { $0.finish(id, $1) }
    case .otpRequired(let provided):
      let challenge = provided.described(id: entropy.handle(), profile: profile)
      var login = PendingLogin(
        step: .code(challenge), flow: provided.flow, method: plan.method, expectedUser: plan.expectedUser)
      login.account = plan.account
      noteSentCode(challenge.method, for: attempt.client, to: plan.account, on: slot)
      wait(for: login, on: slot, telling: .otpChallenge(challenge)) { $0.finish(id, .success(.otpRequired(challenge))) }
    case .userActionRequired(let provided):
      let action = provided.described(id: entropy.handle(), profile: profile)
      // An address that no event can carry is none that a person could follow.
      guard EventPayload.loginPending(action).fits else { return refuse(.transient(.invalidResponse), id) }
      let login = PendingLogin(
        step: .action(action), flow: provided.flow, method: plan.method, expectedUser: plan.expectedUser)
      wait(for: login, on: slot, telling: .loginPending(action)) {
        $0.finish(id, .success(.userActionRequired(action)))
      }
    case .emailVerificationRequired: finish(id, .success(.emailVerificationRequired))
    }
  }

  /// Starts a login in place of an earlier one; it is answered once it is durable.
  private func wait(
    for login: PendingLogin, on slot: ProfileSlot, telling event: EventPayload,
    _ done: @escaping @Sendable (isolated Broker) -> Void
  ) {
    forgetLogin(of: slot.name, .replaced)
    pendingLogins.insert(login)
    keep(login.id, on: slot, telling: [event], done)
    handle(.resumed, onLogin: login.id)
  }

  /// What became of a request whose profile has another session now, or none.
  func overtaken(_ profile: ProfileName) -> BrokerError {
    BrokerError(
      .cancelled, "The login was replaced by another login, a logout or a change of the profile; log in again.",
      profile: profile)
  }

  /// Revokes a session that is not used, at the provider that issued it.
  ///
  /// Where its profile has gone from the configuration, or the vault is locked, nothing can be kept of it: then the
  /// provider is told at once, as far as it answers.
  func revokeUnused(_ session: ProviderSession, at provider: any AuthProvider, _ profile: ProfileName, _ id: UInt64) {
    guard vault.phase != .locked, let slot = slot(named: profile, id: id) else {
      return revokeUnused(session.tokens, at: provider)
    }
    revokeLater(session.tokens, of: slot, user: session.user?.id)
  }

  /// A login is answered only after its session is durable; `pending` is the one that waited for it, whose record goes in
  /// the same transaction.
  func accept(
    _ arrival: Arrival, method: LoginMethod, pending: String? = nil, _ slot: ProfileSlot,
    _ complete: @escaping LoginCompletion
  ) {
    let session = arrival.session
    if let pending, pendingLogins.id(of: slot.name) == pending {
      loginsToClose.insert(slot.name)
    } else {
      forgetLogin(of: slot.name, .replaced)
    }
    slot.account.backupCodesRemaining = session.backupCodesRemaining
    noteClock(session.tokens.clockSkew, of: slot)
    handle(.loginAccepted(session, method: method.rawValue, sentAt: arrival.sentAt), on: slot)
    let (name, id, provider) = (slot.name, slot.id, slot.provider)
    whenSaved(slot) { broker, failure in
      guard failure == nil else {
        // Beside a session that goes on it is left alone: some providers would end that as well.
        if broker.slot(named: name, id: id)?.machine.living == nil {
          broker.revokeUnused(session, at: provider, name, id)
        }
        return complete(broker, .failure(BrokerError(.storeFailed, profile: name)))
      }
      guard let slot = broker.slot(named: name, id: id), slot.machine.living?.tokens == session.tokens else {
        broker.revokeUnused(session, at: provider, name, id)
        return complete(broker, .failure(broker.overtaken(name)))
      }
      broker.counts.logins += 1
      slot.account.note(session.user, at: broker.now.uptime)
      complete(broker, .success(.authenticated(broker.describe(slot))))
    }
  }

  private func refuse(_ failure: ProviderFailure, _ id: UInt64) {
    guard let attempt = attempts[id] else { return }
    counts.loginFailures += 1
    publish(.loginFailed(LoginFailedEvent(kind: failure.kind.rawValue)), profile: attempt.profile)
    var error = BrokerError(failure, of: attempt.plan.method, profile: attempt.profile)
    if failure == .refused(.accessDenied), attempt.plan.expectedUser != nil { error.message = LoginFlow.wrongUser }
    finish(id, .failure(error))
  }
}
