package import BrokerProtocol
import SecretMemory

/// The methods about an account: its data, password, e-mail address and backup codes.
extension Broker {
  /// Confirms an e-mail address.
  package func verifyEmail(_ params: VerifyEmail.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    try askWithoutToken(\.emailVerification, .mailToken, params.profile, caller) { provider throws(ProviderFailure) in
      try await provider.verifyEmail(token: params.token)
    } then: { broker, slot in
      // Nothing says whose token it was; and some providers change an address only when it is confirmed.
      for slot in broker.sessions(of: nil, at: slot.provider.binding) { broker.askForUserAgain(slot) }
      broker.answer(caller, Empty())
    }
  }

  /// Has a token for a new password sent; the answer does not show whether there is such an account.
  ///
  /// Some providers refuse an unknown address, each in its own way: a refusal that may mean that is answered as a
  /// success.
  package func forgotPassword(_ params: ForgotPassword.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    try askWithoutToken(\.forgottenPassword, .message, params.profile, about: params.email, caller) {
      provider throws(ProviderFailure) in
      do throws(ProviderFailure) {
        try await provider.forgotPassword(email: params.email)
      } catch  where error.mayTellOfAccount {
        return
      }
    } then: { broker, _ in
      broker.answer(caller, Empty())
    }
  }

  /// Sets a new password with the token of a mail.
  ///
  /// The token does not show whose it was, so every session with the same binding is examined: those that the provider
  /// has ended end here, and no other. Those that are parked cannot be examined: they end.
  package func resetPassword(_ params: ResetPassword.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    try askWithoutToken(\.passwordReset, .mailToken, params.profile, caller) { provider throws(ProviderFailure) in
      try await provider.resetPassword(token: params.token, newPassword: params.password)
    } then: { broker, slot in
      let binding = slot.provider.binding
      let others = broker.sessions(of: nil, at: binding).map(\.name)
      broker.endParked(
        ParkedAccount(user: nil, binding: binding),
        then: .account(caller, slot.name, others: others, .passwordReset))
    }
  }

  /// Sets a new password with proof of the old one; the session goes on, with new tokens where there are any, and the
  /// sessions of other profiles are examined: the provider may have ended them.
  package func changePassword(_ params: ChangePassword.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    let sentAt = now
    let user = try view(of: caller.principal).slot(for: params.profile).user?.id
    try askWithToken(\.passwordChange, .change, params.profile, caller) { provider, token throws(ProviderFailure) in
      try await provider.changePassword(from: params.oldPassword, to: params.newPassword, accessToken: token)
    } then: { broker, slot, isPresent, tokens in
      let others = broker.sessions(of: user, at: slot.provider.binding, besides: slot.name).map(\.name)
      if let tokens, isPresent, slot.machine.living != nil {
        broker.handle(.tokensReplaced(tokens, sentAt: sentAt), on: slot)
      } else if let tokens {
        broker.revokeLater(tokens, of: slot)
      }
      broker.whenSettled(slot, .account(caller, slot.name, others: others, .passwordReset))
    }
  }

  /// Removes the account at the provider, and then everything of its session here; the same user's sessions of other
  /// profiles are examined, since the provider has ended them too.
  package func deleteAccount(_ params: DeleteAccount.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    try askWithToken(\.accountDeletion, .change, params.profile, caller) { provider, token throws(ProviderFailure) in
      try await provider.deleteAccount(password: params.password, accessToken: token)
    } then: { broker, slot, isPresent, _ in
      guard isPresent else { return broker.answer(caller, Empty()) }
      let others = broker.sessions(of: slot.user?.id, at: slot.provider.binding, besides: slot.name).map(\.name)
      let account = slot.user.map { ParkedAccount(user: $0.id, binding: slot.provider.binding) }
      let settlement = Settlement.account(caller, slot.name, others: others, .accountDeleted)
      broker.forgetSession(of: slot, .accountDeleted)
      guard let account else { return broker.whenSettled(slot, settlement) }
      broker.endParked(account, then: settlement, of: slot.id)
    }
  }

  /// Changes the account's data; a change by which the account could be taken over needs a recent authentication, see
  /// ``RecentProof``.
  package func updateProfile(
    _ params: UpdateProfile.Params, _ caller: Caller<UpdateProfile.Result>
  ) throws(BrokerError) {
    let slot = try slot(for: params.profile, with: \.profileUpdate, as: caller.principal).slot
    if let living = slot.machine.living, RecentProof.isWanted(for: params.changes) {
      guard RecentProof.isRecent(living.authTime, at: now.wall) else {
        throw BrokerError(.reauthRequired, profile: slot.name)
      }
      guard caller.principal.isAdministrative || slot.provingClient == caller.principal.client else {
        throw Self.foreignProof(slot.name)
      }
    }
    try askWithToken(\.profileUpdate, .change, params.profile, caller) { provider, token throws(ProviderFailure) in
      try await provider.updateProfile(params.changes, accessToken: token)
    } then: { broker, slot, isPresent, update in
      guard isPresent else { return broker.answer(caller, UpdateProfile.Result(user: update.user)) }
      broker.take(update, on: slot, for: caller)
    }
  }

  /// The error for a change whose user has authenticated recently, but by another connection.
  private static func foreignProof(_ profile: ProfileName) -> BrokerError {
    var error = BrokerError(
      .reauthRequired, "The recent login came by another connection; reauthenticate by this one.", profile: profile)
    error.admitsProof = true
    return error
  }

  /// Keeps what a change has made of the account, and begins the enrolment that it wants.
  private func take(_ update: ProfileUpdate, on slot: ProfileSlot, for caller: Caller<UpdateProfile.Result>) {
    let (id, session) = (slot.id, SessionMark(slot))
    note(update.user, on: slot) { broker, result in
      let slot = broker.slot(id).flatMap { session.isPresent(on: $0) ? $0 : nil }
      broker.answer(
        caller,
        result.flatMap { user, isDurable in
          guard isDurable else { return .failure(Self.unsaved(id.profile)) }
          let enrolment = update.enrolment.flatMap { provided in slot.map { broker.beginEnrolment(provided, on: $0) } }
          return .success(UpdateProfile.Result(user: user, enrolment: enrolment))
        })
    }
  }

  /// Makes new backup codes with proof of the password; the earlier ones end.
  package func generateBackupCodes(
    _ params: GenerateBackupCodes.Params, _ caller: Caller<GenerateBackupCodes.Result>
  ) throws(BrokerError) {
    try askWithToken(\.backupCodeIssuing, .change, params.profile, caller) { provider, token throws(ProviderFailure) in
      try await provider.generateBackupCodes(password: params.password, accessToken: token)
    } then: { broker, _, _, codes in
      broker.answer(caller, GenerateBackupCodes.Result(backupCodes: codes))
    }
  }
}

/// Provider calls of the account methods.
extension Broker {
  /// Calls the provider of a profile without a session, then continues; a caller whose profile has gone meanwhile is
  /// answered at once.
  ///
  /// `path` is the capability that the call needs, `kind` the kind of call that it counts as.
  private func askWithoutToken<Capability: Sendable>(
    _ path: CapabilityPath<Capability>, _ kind: CallLimiter.Call, _ profile: ProfileName?,
    about account: String? = nil, _ caller: Caller<Empty>,
    _ question: @escaping @Sendable (Capability) async throws(ProviderFailure) -> Void,
    then go: @escaping @Sendable (isolated Broker, ProfileSlot) -> Void
  ) throws(BrokerError) {
    let (slot, capability) = try slot(for: profile, with: path, as: caller.principal)
    try admit(kind, account, on: slot, for: caller.principal.client)
    let name = slot.name
    ask(slot) { _ throws(ProviderFailure) in
      try await question(capability)
    } then: { broker, slot, result in
      if case .failure(let failure) = result { return broker.refuse(caller.id, Self.error(failure, kind, name)) }
      guard let slot else { return broker.answer(caller, Empty()) }
      go(broker, slot)
    }
  }

  /// The error of a call without a session; a token from a mail works once.
  private static func error(
    _ failure: ProviderFailure, _ kind: CallLimiter.Call, _ name: ProfileName
  ) -> BrokerError {
    if kind == .mailToken, case .outcomeUnknown(let error, _) = failure {
      return BrokerError(lostReply: error, to: "token", profile: name)
    }
    return BrokerError(failure, profile: name)
  }

  /// Calls the provider of a profile with the session's access token, which is refreshed first where it is no longer
  /// valid, and once more where the provider refuses it all the same.
  ///
  /// `path` is the capability that the call needs, `kind` the kind of call that it counts as. `go` is told whether the
  /// session is still the present one: its user may have gone, or be another, meanwhile.
  func askWithToken<Capability, Value: Sendable, Reply>(
    _ path: CapabilityPath<Capability>, _ kind: CallLimiter.Call, _ profile: ProfileName?, _ caller: Caller<Reply>,
    _ question: @escaping @Sendable (Capability, BoundToken) async throws(ProviderFailure) -> Value,
    then go: @escaping @Sendable (isolated Broker, ProfileSlot, Bool, Value) -> Void
  ) throws(BrokerError) {
    let slot = try slot(for: profile, with: path, as: caller.principal).slot
    if slot.machine.living != nil { try admit(kind, nil, on: slot, for: caller.principal.client) }
    let call = TokenCall(
      worth: kind == .read ? .repeatable : .spent, slot: slot.id, session: SessionMark(slot), caller: caller.id,
      question: { provider, token throws(ProviderFailure) in try await question(try provider.require(path), token) },
      go: go)
    withAccessToken(GetAccessToken.Params(profile: slot.name)) { broker, result in
      broker.make(call, result, isRetry: false)
    }
  }

  /// One call of a provider that needs the access token.
  private struct TokenCall<Value: Sendable>: Sendable {
    let worth: BackgroundWork.Worth
    let slot: SlotID
    let session: SessionMark
    let caller: CallerID
    let question: @Sendable (any AuthProvider, BoundToken) async throws(ProviderFailure) -> Value
    let go: @Sendable (isolated Broker, ProfileSlot, Bool, Value) -> Void

    var profile: ProfileName { slot.profile }
  }

  private func make<Value>(_ call: TokenCall<Value>, _ token: Result<Secret, BrokerError>, isRetry: Bool) {
    if case .failure(let error) = token { return refuse(call.caller, error) }
    guard let slot = slot(call.slot), let living = slot.machine.living else {
      return refuse(call.caller, BrokerError(.loginRequired, profile: call.profile))
    }
    guard call.session.isPresent(on: slot) else { return refuse(call.caller, BrokerError(overtaken: call.profile)) }
    let accessToken = living.tokens.accessToken
    ask(slot, call.worth) { provider throws(ProviderFailure) in
      try await call.question(provider, accessToken)
    } then: { broker, slot, result in
      switch result {
      case .success(let value):
        guard let slot else {
          return broker.refuse(call.caller, BrokerError(.unknownProfile, profile: call.profile))
        }
        call.go(broker, slot, call.session.isPresent(on: slot), value)
      case .failure(let failure): broker.refuse(call, accessToken, failure, isRetry: isRetry)
      }
    }
  }

  private func refuse<Value>(
    _ call: TokenCall<Value>, _ accessToken: BoundToken, _ failure: ProviderFailure, isRetry: Bool
  ) {
    if failure.kind == .forbidden, let slot = slot(call.slot) { publishRefusal(403, on: slot) }
    guard failure == .tokenRefused, !isRetry else {
      return refuse(call.caller, BrokerError(failure, profile: call.profile))
    }
    withToken(insteadOf: ReportRejected.Params(profile: call.profile, accessToken: accessToken.value)) {
      broker, result in
      broker.make(call, result, isRetry: true)
    }
  }

  /// The abilities of a provider type's profiles that a principal may see; nil where it sees no such profile.
  package func abilities(ofType type: String, for principal: Principal) -> Set<ProviderAbility>? {
    let slots = view(of: principal).slots.filter { $0.provider.binding.type == type }
    return slots.isEmpty ? nil : slots.reduce(into: []) { $0.formUnion($1.provider.abilities) }
  }
}
