package import BrokerProtocol
import SecretMemory

/// The methods that begin a login.
extension Broker {
  /// Begins a login; a login that is equal to one under way shares its answer.
  ///
  /// A connection that has not proven access to the state directory replaces no living session but by its own user's.
  package func login(_ params: Login.Params, _ caller: Caller<LoginResult>) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    let known: Method<LoginResult> = { broker, caller throws(BrokerError) in try broker.login(params, caller) }
    guard isKnown(slot, caller, again: known) else { return }
    let scopes = try TokenTarget.scopes(params.scopes)
    try requireLogin(on: slot)
    let method = try LoginMethodChoice.method(for: params, offered: slot.provider.loginForms, profile: slot.name)
    var credentials = Credentials(
      method: method, email: params.email, password: params.password, phoneNumber: params.phoneNumber,
      refreshToken: params.refreshToken, scopes: scopes)
    credentials.take(slot.stepUp)
    if keptSession(of: slot, unless: caller.principal.isAdministrative)?.refuses(credentials) == true {
      throw refusal(of: slot)
    }
    note(caller.id, clientContext: params.clientContext)
    try begin(slot, credentials, as: nil, mayReplace: caller.principal.isAdministrative, params.clientContext, caller)
  }

  private func refusal(of slot: ProfileSlot) -> BrokerError {
    var error = BrokerError.keeping(slot.name)
    error.admitsProof = true
    return error
  }

  /// Makes an account and logs in; a caller that cancels leaves the account that was made.
  ///
  /// A new account's session is never that of the user who is logged in.
  package func register(
    _ params: Register.Params, _ caller: Caller<LoginResult>
  ) throws(BrokerError) {
    let (slot, provider) = try slot(for: params.profile, with: \.registration, as: caller.principal)
    let known: Method<LoginResult> = { broker, caller throws(BrokerError) in try broker.register(params, caller) }
    guard isKnown(slot, caller, again: known) else { return }
    if keptSession(of: slot, unless: caller.principal.isAdministrative) != nil { throw refusal(of: slot) }
    let registration = Registration(
      email: params.email, password: params.password, name: params.name, phoneNumber: params.phoneNumber)
    try requireToken(for: .message, params.email, on: slot, for: caller.principal.client)
    let plan = LoginAttempt.Plan(mayReplace: caller.principal.isAdministrative, account: params.email)
    try begin(slot, plan, caller) { _ throws(ProviderFailure) in try await provider.register(registration) }
    try admit(.message, params.email, on: slot, for: caller.principal.client)
  }
}

/// The methods that answer a challenge and request another code.
extension Broker {
  /// Answers a challenge with its code, or confirms an enrolment with its first one.
  package func verifyOTP(_ params: VerifyOTP.Params, _ caller: Caller<LoginResult>) throws(BrokerError) {
    if let enrolment = enrolment(params.otpFlowID, for: caller.principal) {
      return try confirm(enrolment, Self.code(params.code, .removed, enrolment.slot.profile), caller)
    }
    let slot = try slot(ofLogin: params.otpFlowID, for: caller.principal)
    let code = try Self.code(params.code, .removed, slot.name)
    try admit(.code, nil, on: slot, for: caller.principal.client)
    note(caller.id, waitsFor: .code(login: params.otpFlowID))
    handle(.codeGiven(CodeGuess(caller.id, code)), onLogin: params.otpFlowID)
  }

  /// Answers a challenge with a backup code.
  package func verifyBackupCode(
    _ params: VerifyBackupCode.Params, _ caller: Caller<VerifyBackupCode.Result>
  ) throws(BrokerError) {
    let slot = try slot(ofLogin: params.otpFlowID, for: caller.principal)
    let name = slot.name
    let code = try Self.code(params.backupCode, try require(\.backupCodes, of: slot).dashesOfBackupCodes, name)
    try admit(.code, nil, on: slot, for: caller.principal.client)
    note(caller.id, waitsFor: .code(login: params.otpFlowID), countsBackupCodesOf: name)
    handle(.codeGiven(CodeGuess(caller.id, code, isBackupCode: true)), onLogin: params.otpFlowID)
  }

  /// A code as providers know it; see ``TypedCode``.
  ///
  /// - Throws: `overloaded` where there is no room for it.
  private static func code(
    _ typed: Secret, _ dashes: TypedCode.Dashes, _ profile: ProfileName
  ) throws(BrokerError) -> Secret {
    do throws(SecretMemoryExhausted) {
      return try TypedCode.normalized(typed, dashes)
    } catch {
      throw BrokerError(.overloaded, BrokerError.secretMemoryMessage, profile: profile)
    }
  }

  /// Sends another code.
  package func resendOTP(_ params: ResendOTP.Params, _ caller: Caller<OTPChallenge>) throws(BrokerError) {
    let slot = try slot(ofLogin: params.otpFlowID, for: caller.principal)
    _ = try require(\.codeResending, of: slot)
    note(caller.id, waitsFor: .code(login: params.otpFlowID))
    handle(.resendWanted(caller: caller.id, channel: params.channel), onLogin: params.otpFlowID)
  }

  /// The profile of a login that waits for a code.
  ///
  /// - Throws: `flowNotFound`.
  private func slot(ofLogin id: String, for principal: Principal) throws(BrokerError) -> ProfileSlot {
    guard let login = login(id, for: principal)?.login, login.step.challenge != nil,
      let slot = slot(named: login.profile)
    else { throw BrokerError(.flowNotFound) }
    return slot
  }
}

/// The methods that wait for, list and cancel pending logins.
extension Broker {
  /// The pending login behind a handle, unless its time is over, or its profile is not shown.
  func login(_ id: String, for principal: Principal) -> LoginMachine? {
    logins.find(id, at: now.wall).flatMap { view(of: principal).sees($0.login.profile) ? $0 : nil }
  }

  /// Waits until the user has finished a login's user action; the login goes on without the waiting callers.
  package func awaitLogin(_ params: AwaitLogin.Params, _ caller: Caller<LoginResult>) {
    let id = params.loginFlowID
    guard login(id, for: caller.principal)?.login.step.action != nil else {
      return answer(caller, pastResult(of: id, for: caller.principal))
    }
    note(caller.id, waitsFor: .userAction(login: id))
    if let timeout = params.timeout { limit(caller.id, to: timeout) }
  }

  /// The result of a login that is over: its user may have been quicker than the caller.
  func pastResult(of id: String, for principal: Principal) -> Result<LoginResult, BrokerError> {
    guard let ending = logins.ending(of: id, at: now.wall), view(of: principal).sees(ending.step.profile) else {
      return .failure(BrokerError(.flowNotFound))
    }
    if let failure = ending.failure { return .failure(failure.error(ending.step)) }
    guard let slot = slot(named: ending.step.profile), slot.machine.living != nil else {
      return .failure(BrokerError(.flowNotFound, profile: ending.step.profile))
    }
    return .success(LoginResult(.authenticated(describe(slot)), clientContext: ending.step.context(for: principal)))
  }

  /// Cancels a pending login; the callers that wait for it get `cancelled`.
  package func cancelLogin(_ params: CancelLogin.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    guard (params.otpFlowID == nil) != (params.loginFlowID == nil) else {
      throw BrokerError(
        .invalidParams, "Exactly one of the parameters /otpFlowId and /loginFlowId must be present.",
        pointer: "/loginFlowId")
    }
    let id = params.otpFlowID ?? params.loginFlowID ?? ""
    guard let machine = login(id, for: caller.principal), machine.state != .accepting,
      (machine.login.step.action != nil) == (params.loginFlowID != nil)
    else { throw BrokerError(.flowNotFound) }
    note(caller.id, waitsFor: .cancellation(login: id))
    handle(.ended(.of(.cancelled), isTold: true), onLogin: id)
  }

  /// Lists the pending logins, of one profile or of all, as far as the connection may see them.
  ///
  /// - Throws: `unknownProfile`.
  package func listPendingLogins(
    _ params: ListPendingLogins.Params, _ caller: Caller<ListPendingLogins.Result>
  ) throws(BrokerError) {
    let asked = try view(of: caller.principal).slots(for: params.profile)
    let steps = asked.compactMap { logins.step(of: $0.name, at: now.wall)?.shown(to: caller.principal) }
    answer(caller, ListPendingLogins.Result(logins: steps))
  }
}

/// Calls of providers for a login, and the handling of their answers.
extension Broker {
  /// Begins a login with these credentials, unless an equal one is under way; `user` is the user that it must bring,
  /// and `clientContext` the context that its events repeat.
  ///
  /// - Throws: `overloaded`; `rateLimited` and `tooManyAttempts`, with the time to wait.
  func begin(
    _ slot: ProfileSlot, _ credentials: Credentials, as user: ExpectedUser?, mayReplace: Bool,
    _ clientContext: String?, _ caller: Caller<LoginResult>
  ) throws(BrokerError) {
    let question = LoginAttempt.Question(credentials: credentials, expectedUser: user, mayReplace: mayReplace)
    guard !logins.attempts.join(caller.id, of: caller.principal, question, on: slot) else {
      return note(caller.id, waitsFor: .login)
    }
    let plan = LoginAttempt.Plan(
      method: credentials.method, question: question, expectedUser: user, mayReplace: mayReplace,
      account: credentials.email ?? credentials.phoneNumber, clientContext: clientContext)
    try begin(slot, plan, caller) { provider throws(ProviderFailure) in try await provider.login(credentials) }
  }

  /// Lets the provider try.
  ///
  /// - Throws: as ``begin(_:_:as:_:)`` does.
  func begin(
    _ slot: ProfileSlot, _ plan: LoginAttempt.Plan, _ caller: Caller<LoginResult>,
    _ question: @escaping ProviderQuestion<LoginOutcome>
  ) throws(BrokerError) {
    try ledger.require(.loginsUnderWay, logins.attempts.count(on: slot) + 1, of: slot.name)
    try admitLogin(plan.account, on: slot, for: caller.principal.client)
    let id = logins.attempts.begin(plan, on: slot, for: caller.id, of: caller.principal)
    note(caller.id, waitsFor: .login)
    let issuer = IssuedSession.Issuer(slot)
    let user = plan.expectedUser ?? keptSession(of: slot, unless: plan.mayReplace)?.expectedUser
    onceRevoked(slot) { broker in
      guard let slot = broker.slot(issuer.slot), broker.logins.attempts[id]?.isWanted(on: slot) == true else {
        return broker.finishAttempt(id, .failure(BrokerError(overtaken: issuer.profile)))
      }
      let sentAt = broker.now
      broker.ask(slot) { provider throws(ProviderFailure) in
        await LoginAnswer(try await question(provider), expecting: user, at: provider)
      } then: { broker, slot, result in
        switch result {
        case .success(let answer): broker.proceed(id, answer, issuer, sentAt, on: slot)
        case .failure(let failure): broker.fail(id, failure)
        }
      }
    }
  }

  /// Continues a login with the provider's answer.
  private func proceed(
    _ id: UInt64, _ answer: LoginAnswer, _ issuer: IssuedSession.Issuer, _ sentAt: Moment, on slot: ProfileSlot?
  ) {
    if let doubt = answer.session?.doubt { noteCall(doubt, of: issuer.slot) }
    guard let attempt = logins.attempts[id] else { return }
    let session = answer.session?.session
    guard let slot, attempt.isWanted(on: slot) else {
      // First, so that the end of its session is not kept back for an attempt that is over.
      finishAttempt(id, .failure(BrokerError(overtaken: issuer.profile)))
      if let session { revokeUnused(session, from: issuer) }
      return
    }
    logins.attempts.noteAnswered(id)
    let proof = { self.proof(of: $0, attempt.plan.expectedUser, attempt.plan.method, attempt.plan.mayReplace, slot) }
    switch attempt.step(after: answer, proof: proof, makeID: entropy.handle) {
    case .accept(let session):
      forgetLogin(of: slot.name, .replaced)
      let issued = IssuedSession(session: session, issuer: issuer, sentAt: sentAt)
      let details = LoginDetails(clientContext: attempt.plan.clientContext, beginners: attempt.beginners)
      accept(issued, by: attempt.plan.method, details, from: .attempt(id), on: slot)
    case .fail(let failure):
      fail(id, failure)
      if let session { revokeUnused(session, from: issuer) }
    case .keep:
      fail(id, .keeping(slot.name))
      if let session { revokeUnused(session, from: issuer) }
    case .wait(let login, let event):
      if let challenge = login.step.challenge {
        noteSentCode(challenge.method, for: attempt.client, to: login.account, on: slot)
      }
      wait(for: login, begunBy: id, on: slot, telling: event)
    case .askForVerification: finishAttempt(id, .success(.emailVerificationRequired))
    }
  }

  /// Starts a pending login in place of an earlier one; the attempt is answered once it is durable.
  private func wait(for login: PendingLogin, begunBy id: UInt64, on slot: ProfileSlot, telling event: EventPayload) {
    forgetLogin(of: slot.name, .replaced)
    logins.insert(login)
    keep(login, on: slot, telling: [event], then: .pending(login.step, attempt: id))
    handle(.resumed, onLogin: login.id)
  }

  /// Refuses the callers of an attempt, and tells that it failed.
  private func fail(_ id: UInt64, _ failure: ProviderFailure) {
    guard let attempt = logins.attempts[id] else { return }
    var error = BrokerError(failure, of: attempt.plan.method, profile: attempt.profile)
    if failure == .refused(.accessDenied), attempt.plan.expectedUser != nil { error.message = BrokerError.wrongUser }
    fail(id, error)
  }

  private func fail(_ id: UInt64, _ error: BrokerError) {
    guard let attempt = logins.attempts[id] else { return }
    counts.loginFailures += 1
    var event = LoginFailedEvent(kind: error.kind.rawValue, clientContext: attempt.plan.clientContext)
    event.beginners = attempt.beginners
    publish(.loginFailed(event), profile: attempt.profile)
    finishAttempt(id, .failure(error))
  }

  /// Answers the callers of an attempt, each with its own context: until then, an equal login shares it.
  func finishAttempt(_ id: UInt64, _ result: Result<LoginProgress, BrokerError>) {
    for caller in logins.attempts.finish(id) { answer(caller, login: result, callers[caller]?.clientContext) }
  }
}
