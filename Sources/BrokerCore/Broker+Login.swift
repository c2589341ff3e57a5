package import BrokerProtocol
import SecretMemory

/// How people log in.
extension Broker {
  /// More credential calls than this under way are refused: each may cost the provider a slow hash.
  static let attemptLimit = 16

  /// Begins a login; a login that is equal to one under way shares its answer.
  package func login(_ params: Login.Params, _ reply: @escaping Reply<LoginResult>) {
    let reply = unlessLocked(reply)
    do throws(BrokerError) {
      try requireUnlocked()
      let slot = try slot(for: params.profile)
      if let method = params.method, method != LoginMethod.password.rawValue {
        throw BrokerError(
          .unsupportedByProvider, "The provider of this profile cannot log in by \(method).", profile: slot.name)
      }
      let shared = LoginAttempt.Credentials(params, slot.name)
      if let same = attempts.firstIndex(where: { $0.credentials == shared && $0.logouts == slot.logouts }) {
        return attempts[same].replies.append(reply)
      }
      let credentials = Credentials(
        email: params.email, password: params.password, phoneNumber: params.phoneNumber, scopes: params.scopes ?? [])
      let provider = slot.provider
      try begin(slot, shared, reply) { () async throws(ProviderFailure) in try await provider.login(credentials) }
    } catch {
      reply(.failure(error))
    }
  }

  /// Makes an account and logs in.
  package func register(_ params: Register.Params, _ reply: @escaping Reply<LoginResult>) {
    let reply = unlessLocked(reply)
    do throws(BrokerError) {
      let slot = try slot(for: params.profile, able: .register)
      let registration = Registration(
        email: params.email, password: params.password, name: params.name, phoneNumber: params.phoneNumber)
      let provider = slot.provider
      try begin(slot, nil, reply) { () async throws(ProviderFailure) in try await provider.register(registration) }
    } catch {
      reply(.failure(error))
    }
  }

  /// Answers a challenge with its code.
  package func verifyOTP(_ params: VerifyOTP.Params, _ reply: @escaping Reply<LoginResult>) {
    let reply = unlessLocked(reply)
    guard gate == .unlocked else { return reply(.failure(BrokerError(.vaultLocked))) }
    guard let login = pendingLogins.find(params.otpFlowID, at: now.wall),
      let slot = slot(named: login.challenge.profile)
    else { return reply(.failure(BrokerError(.flowNotFound))) }
    let (provider, code) = (slot.provider, params.code)
    do throws(BrokerError) {
      try begin(slot, nil, flow: params.otpFlowID, reply) { () async throws(ProviderFailure) in
        .authenticated(try await provider.verifyOTP(flow: login.flow, code: code))
      }
    } catch {
      reply(.failure(error))
    }
  }

  /// Answers a challenge with a backup code.
  package func verifyBackupCode(
    _ params: VerifyBackupCode.Params, _ reply: @escaping Reply<VerifyBackupCode.Result>
  ) {
    let reply = unlessLocked(reply)
    guard gate == .unlocked else { return reply(.failure(BrokerError(.vaultLocked))) }
    guard let login = pendingLogins.find(params.otpFlowID, at: now.wall) else {
      return reply(.failure(BrokerError(.flowNotFound)))
    }
    do throws(BrokerError) {
      let slot = try slot(for: login.challenge.profile, able: .verifyBackupCode)
      let (provider, name, code) = (slot.provider, slot.name, params.backupCode)
      let counted: Reply<LoginResult> = { [weak self] result in
        let remaining = self?.assumeIsolated { $0.slot(named: name)?.backupCodesRemaining }
        reply(result.map { VerifyBackupCode.Result(login: $0, backupCodesRemaining: remaining ?? nil) })
      }
      try begin(slot, nil, flow: params.otpFlowID, counted) { () async throws(ProviderFailure) in
        .authenticated(try await provider.verifyBackupCode(flow: login.flow, code: code))
      }
    } catch {
      reply(.failure(error))
    }
  }

  /// Lets the provider try, off the loop.
  private func begin(
    _ slot: ProfileSlot, _ credentials: LoginAttempt.Credentials?, flow: String? = nil,
    _ reply: @escaping Reply<LoginResult>,
    _ ask: @escaping @Sendable () async throws(ProviderFailure) -> LoginOutcome
  ) throws(BrokerError) {
    guard attempts.count < Self.attemptLimit else {
      throw BrokerError(.overloaded, "Too many logins are under way; try again.", profile: slot.name)
    }
    attemptCount += 1
    let id = attemptCount
    let (name, slotID) = (slot.name, slot.id)
    attempts.append(
      LoginAttempt(
        id: id, slot: slot.id, logouts: slot.logouts, profile: slot.name, credentials: credentials, replies: [reply]))
    inBackground {
      do throws(ProviderFailure) {
        let outcome = try await ask()
        return { broker in
          broker.noteCall(nil, of: name, id: slotID)
          broker.proceed(outcome, id)
        }
      } catch {
        return { broker in
          broker.noteCall(error, of: name, id: slotID)
          if let flow { broker.noteRefusedCode(error, flow) }
          broker.refuse(error, id)
        }
      }
    }
  }

  /// Takes an attempt off the list, and gives one reply for all who wait for it.
  private func finish(_ id: UInt64) -> (attempt: LoginAttempt, reply: Reply<LoginResult>)? {
    guard let index = attempts.firstIndex(where: { $0.id == id }) else { return nil }
    let attempt = attempts.remove(at: index)
    let replies = attempt.replies
    return (attempt, { result in for reply in replies { reply(result) } })
  }

  private func proceed(_ outcome: LoginOutcome, _ id: UInt64) {
    guard let (attempt, reply) = finish(id) else { return }
    let profile = attempt.profile
    guard let slot = slot(named: profile, id: attempt.slot), slot.logouts == attempt.logouts else {
      if case .authenticated(let session) = outcome { giveBack(session, profile, attempt.slot) }
      return reply(.failure(overtaken(profile)))
    }
    switch outcome {
    case .authenticated(let session): accept(session, method: "password", slot, reply)
    case .otpRequired(let provided):
      let challenge = pendingLogins.begin(provided, id: entropy.handle(), profile: profile)
      schedulePendingLogins()
      keep(challenge.otpFlowID, on: slot, telling: [.otpChallenge(challenge)]) {
        reply(.success(.otpRequired(challenge)))
      }
    case .userActionRequired: reply(.failure(BrokerError(.unsupportedByProvider, profile: profile)))
    case .emailVerificationRequired: reply(.success(.emailVerificationRequired))
    }
  }

  private func overtaken(_ profile: ProfileName) -> BrokerError {
    BrokerError(.cancelled, "Another login or a logout came between, or the profile was changed.", profile: profile)
  }

  /// Ends a session that nobody wants any more.
  private func giveBack(_ session: ProviderSession, _ profile: ProfileName, _ id: UInt64) {
    guard let slot = slot(named: profile, id: id) else { return }
    revokeLater(session.tokens, everywhere: false, of: slot)
  }

  /// A login is answered only after its session is durable.
  private func accept(
    _ session: ProviderSession, method: String, _ slot: ProfileSlot, _ reply: @escaping Reply<LoginResult>
  ) {
    forgetLogin(of: slot.name)
    slot.backupCodesRemaining = session.backupCodesRemaining
    noteClock(session.tokens.clockSkew, of: slot)
    handle(.loginAccepted(session, method: method), on: slot)
    let (name, id) = (slot.name, slot.id)
    whenSaved(slot) { [weak self] failure in
      self?.assumeIsolated { broker in
        guard failure == nil else {
          // Beside a session that goes on it is left alone: some providers would end that as well.
          if broker.slot(named: name, id: id)?.machine.living == nil { broker.giveBack(session, name, id) }
          return reply(.failure(BrokerError(.storeFailed, profile: name)))
        }
        guard let slot = broker.slot(named: name, id: id), slot.machine.living?.tokens == session.tokens else {
          broker.giveBack(session, name, id)
          return reply(.failure(broker.overtaken(name)))
        }
        broker.counts.logins += 1
        slot.user = session.user
        slot.userFetchedAt = session.user.map { _ in broker.now.uptime }
        reply(.success(.authenticated(broker.describe(slot))))
      }
    }
  }

  private func refuse(_ failure: ProviderFailure, _ id: UInt64) {
    guard let (attempt, reply) = finish(id) else { return }
    counts.loginFailures += 1
    publish(.loginFailed(LoginFailedEvent(kind: failure.kind.rawValue)), profile: attempt.profile)
    reply(.failure(BrokerError(failure, profile: attempt.profile)))
  }

  private func noteRefusedCode(_ failure: ProviderFailure, _ id: String) {
    guard case .refused(let kind, let attempts, _, _) = failure else { return }
    guard let profile = pendingLogins.profile(of: id), let slot = slot(named: profile) else { return }
    switch kind {
    case .tooManyAttempts, .otpExpired, .flowNotFound:
      forgetLogin(of: profile)
      closeLogins()
    default:
      guard let attempts, attempts > 0 else { return }
      pendingLogins.setAttemptsRemaining(attempts, of: id)
      keep(id, on: slot)
    }
  }

  /// Sends another code.
  package func resendOTP(_ params: ResendOTP.Params, _ reply: @escaping Reply<OTPChallenge>) {
    let reply = unlessLocked(reply)
    guard gate == .unlocked else { return reply(.failure(BrokerError(.vaultLocked))) }
    let now = self.now.wall
    guard let login = pendingLogins.find(params.otpFlowID, at: now),
      let slot = slot(named: login.challenge.profile)
    else { return reply(.failure(BrokerError(.flowNotFound))) }
    guard login.challenge.nextResendAt <= now else {
      var error = BrokerError(.resendTooSoon, profile: slot.name)
      error.retryAfter = login.challenge.nextResendAt - now
      return reply(.failure(error))
    }
    guard slot.provider.abilities.contains(.resendOtp) else {
      return reply(.failure(BrokerError(.unsupportedByProvider, profile: slot.name)))
    }
    let (provider, name, id) = (slot.provider, slot.name, params.otpFlowID)
    inBackground {
      do throws(ProviderFailure) {
        let challenge = try await provider.resendOTP(flow: login.flow)
        return { broker in
          guard let renewed = broker.pendingLogins.renew(id, with: challenge), let slot = broker.slot(named: name)
          else {
            return reply(.failure(BrokerError(.flowNotFound, profile: name)))
          }
          broker.schedulePendingLogins()
          broker.keep(id, on: slot, telling: [.otpResent(renewed)]) { reply(.success(renewed)) }
        }
      } catch {
        return { broker in
          broker.noteFailure(error, of: name)
          reply(.failure(BrokerError(error, profile: name)))
        }
      }
    }
  }
}
