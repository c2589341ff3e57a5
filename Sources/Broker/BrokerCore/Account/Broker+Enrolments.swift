import BrokerProtocol
import SecretMemory

/// Enrolment of second factors.
extension Broker {
  /// Starts an enrolment, which waits for the first code of its factor, and describes it to the client.
  func beginEnrolment(_ provided: ProviderEnrolment, on slot: ProfileSlot) -> FactorEnrolment {
    let id = entropy.handle()
    enrolments.begin(id, provided, on: slot.id, session: slot.sessions)
    return FactorEnrolment(
      otpFlowID: id, method: provided.method, otpauthURI: provided.uri, maskedDestination: provided.maskedDestination,
      otpLength: provided.otpLength, expiresAt: provided.expiresAt)
  }

  /// The enrolment behind a handle, as long as the session that began it lives; nil where its profile is not shown.
  func enrolment(_ id: String, for principal: Principal) -> Enrolments.Enrolment? {
    guard let enrolment = enrolments.find(id, at: now.wall),
      view(of: principal).sees(enrolment.slot.profile), let slot = slot(of: enrolment), slot.machine.living != nil
    else { return nil }
    return enrolment
  }

  /// The profile of an enrolment, as long as it has the same session.
  private func slot(of enrolment: Enrolments.Enrolment) -> ProfileSlot? {
    guard let slot = slot(enrolment.slot), slot.sessions == enrolment.session else { return nil }
    return slot
  }

  /// Confirms an enrolment with its first code.
  ///
  /// Its wrong codes count for no other limit: a client that has the handle was told the secret that the code comes from, or
  /// has the session whose provider limits how many codes it sends.
  func confirm(
    _ enrolment: Enrolments.Enrolment, _ code: Secret, _ caller: Caller<LoginResult>
  ) throws(BrokerError) {
    let (slot, provider) = try slot(
      for: enrolment.slot.profile, with: \.factorEnrolment, as: caller.principal)
    guard code.byteCount > 0 else { throw wrongCode(enrolment.attemptsRemaining, slot.name) }
    try admit(.code, nil, on: slot, for: caller.principal.client)
    ask(slot) { _ throws(ProviderFailure) in
      try await provider.confirmEnrolment(flow: enrolment.flow, code: code)
    } then: { broker, _, result in
      switch result {
      case .success(let user): broker.finish(enrolment, user, caller)
      case .failure(let failure):
        let isGuess = LoginMachine.isPlausible(code, length: enrolment.otpLength)
        broker.refuse(caller.id, broker.error(failure, of: enrolment, isGuess: isGuess))
      }
    }
  }

  private func finish(_ enrolment: Enrolments.Enrolment, _ user: User, _ caller: Caller<LoginResult>) {
    enrolments.end(enrolment.id)
    guard let slot = slot(of: enrolment) else {
      return refuse(caller.id, BrokerError(overtaken: enrolment.slot.profile))
    }
    noteUse(of: slot)
    note(user, on: slot) { broker, result in
      guard let slot = broker.slot(of: enrolment) else {
        return broker.refuse(caller.id, BrokerError(overtaken: enrolment.slot.profile))
      }
      broker.answer(
        caller,
        result.flatMap { _, isDurable in
          isDurable ? .success(LoginResult(.authenticated(broker.describe(slot)))) : .failure(Self.unsaved(slot.name))
        })
    }
  }

  /// The error for a code that has not confirmed an enrolment, which ends where no other code can.
  ///
  /// A string that cannot be a code is no guess, unless the provider has no count of its own.
  private func error(
    _ failure: ProviderFailure, of enrolment: Enrolments.Enrolment, isGuess: Bool
  ) -> BrokerError {
    let profile = enrolment.slot.profile
    guard case .refused(let kind, let provided, _, _) = failure, !kind.isRetryable else {
      return BrokerError(failure, profile: profile)
    }
    guard !LoginMachine.isFinal(kind) else {
      enrolments.end(enrolment.id)
      return BrokerError(failure, profile: profile)
    }
    let remaining = enrolments.countWrongCode(
      enrolment.id, isGuess: isGuess || provided == nil, provided: provided)
    guard remaining > 0 else {
      var error = BrokerError(.tooManyAttempts, "Too many wrong codes; change twoFactor again.", profile: profile)
      error.nextAction = .fixRequest
      return error
    }
    return wrongCode(remaining, profile)
  }

  private func wrongCode(_ remaining: Int, _ profile: ProfileName) -> BrokerError {
    var error = BrokerError(.otpInvalid, profile: profile)
    error.attemptsRemaining = remaining
    return error
  }
}
