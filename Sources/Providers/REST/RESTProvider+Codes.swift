package import BrokerCore
package import BrokerProtocol
package import SecretMemory

/// One-time codes and backup codes.
extension RESTProvider: ChallengeProvider, CodeResendingProvider, BackupCodeProvider {
  /// Answers a challenge with its code.
  ///
  /// - Throws: `.refused` with `otpInvalid` and the attempts that remain, `otpExpired`, `flowNotFound` or
  ///   `tooManyAttempts`; `.transient`; `.outcomeUnknown`: the code may be spent.
  package func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    let reply = try await publicCaller.ask(.verifyOtp, [(.otpFlowId, .secret(flow)), (.code, .secret(code))])
    return try await answered(flow) { () async throws(ProviderFailure) in try await session(reply) }
  }

  /// Answers a challenge with one of the account's backup codes.
  ///
  /// - Throws: as ``verifyOTP(flow:code:)``, with `backupCodeInvalid` for a wrong code.
  package func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    let reply = try await publicCaller.ask(
      .verifyBackupCode, [(.otpFlowId, .secret(flow)), (.backupCode, .secret(code))])
    return try await answered(flow) { () async throws(ProviderFailure) in try await session(reply) }
  }

  /// A backend's backup codes are its own: a dash may be part of one.
  package var dashesOfBackupCodes: TypedCode.Dashes { .kept }

  /// Sends another code, in the way that the mapping says.
  ///
  /// - Throws: `.refused` with `resendTooSoon` and the time to wait, `flowNotFound`, `otpExpired`; `.unsupported`; the
  ///   failures of ``login(_:)`` where the login is sent again.
  package func resendOTP(
    flow: Secret, by channel: OTPChallenge.Method?
  ) async throws(ProviderFailure) -> ProviderChallenge {
    let known = challenges.find(flow)
    switch mapping.resendStrategy {
    case .none: throw .unsupported
    case .restartLogin:
      guard let known, let credentials = known.credentials else { throw .refused(.flowNotFound) }
      let outcome = try await login(credentials)
      challenges.forget(flow)
      switch outcome {
      case .otpRequired(let challenge): return challenge
      case .authenticated(let session):
        // No code is wanted any more, but no session was requested here.
        try? await revoke(session.tokens, everywhere: false)
        throw .refused(.flowNotFound)
      case .userActionRequired, .emailVerificationRequired: throw .refused(.flowNotFound)
      }
    case .endpoint:
      let reply = try await publicCaller.ask(.resendOtp, [(.otpFlowId, .secret(flow))])
      let challenge = try await answered(flow, keeping: true) { () async throws(ProviderFailure) in
        try await resent(reply, flow, known)
      }
      challenges.forget(flow)
      challenges.remember(challenge, nil, at: clock())
      return challenge
    }
  }

  /// The challenge after another code was sent; the reply may describe little or nothing of it.
  private func resent(
    _ reply: BackendReply, _ flow: Secret, _ known: PendingChallenges.Entry?
  ) async throws(ProviderFailure) -> ProviderChallenge {
    try reply.expectSuccess()
    let former =
      known?.challenge
      ?? ProviderChallenge(
        flow: flow, method: .sms, maskedDestination: "", otpLength: 6, expiresAt: clock(), nextResendAt: clock(),
        attemptsRemaining: 5, backupCodesAllowed: mapping.endpoints[.verifyBackupCode] != nil)
    guard !reply.isEmpty else {
      // There is no handle in nothing, so there is nothing to find room for.
      return (try? reply.empty?.restarting(former)) ?? former
    }
    return try await reply.read { reader throws(SecretMemoryExhausted) in try reader.restarting(former) }
  }

  /// The session that a correct code has begun.
  private func session(_ reply: BackendReply) async throws(ProviderFailure) -> ProviderSession {
    try await read(reply) { reader throws(SecretMemoryExhausted) in try session(reader) }
  }

  /// Counts wrong codes where the backend does not, and forgets the login when it is over.
  private func answered<R>(
    _ flow: Secret, keeping: Bool = false, _ body: () async throws(ProviderFailure) -> R
  ) async throws(ProviderFailure) -> R {
    do throws(ProviderFailure) {
      let result = try await body()
      if !keeping { challenges.forget(flow) }
      return result
    } catch .refused(let kind, let attempts, let retryAfter, let fields)
      where kind == .otpInvalid || kind == .backupCodeInvalid
    {
      let rest = challenges.countWrongCode(flow, said: attempts)
      guard rest != 0 else {
        challenges.forget(flow)
        throw .refused(.tooManyAttempts, retryAfter: retryAfter)
      }
      throw .refused(kind, attemptsRemaining: rest, retryAfter: retryAfter, fields: fields)
    } catch {
      if [.otpExpired, .flowNotFound, .tooManyAttempts].contains(error.kind) { challenges.forget(flow) }
      throw error
    }
  }
}
