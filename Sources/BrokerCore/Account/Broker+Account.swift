package import BrokerProtocol
import SecretMemory

/// What people do with their accounts.
extension Broker {
  /// Confirms an e-mail address.
  package func verifyEmail(_ params: VerifyEmail.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    try askWithoutToken(.verifyEmail, params.profile, caller) { provider throws(ProviderFailure) in
      try await provider.verifyEmail(token: params.token)
    } then: { broker, _ in
      broker.answer(caller, Empty())
    }
  }

  /// Has a token for a new password sent; the answer does not tell whether there is such an account.
  ///
  /// Some providers refuse an unknown address, each in its own way: what such a refusal may be is answered as a success.
  package func forgotPassword(_ params: ForgotPassword.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    try askWithoutToken(.forgotPassword, params.profile, about: params.email, caller) {
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
  /// Nothing says whose token it was, so every session with the same binding is examined: those that the provider has
  /// ended end here, and no other.
  package func resetPassword(_ params: ResetPassword.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    try askWithoutToken(.resetPassword, params.profile, caller) { provider throws(ProviderFailure) in
      try await provider.resetPassword(token: params.token, newPassword: params.password)
    } then: { broker, slot in
      let (name, binding) = (slot.name, slot.provider.binding)
      broker.check(
        broker.slots.filter { $0.provider.binding == binding }, .passwordReset, for: caller, of: name)
    }
  }

  /// Sets a new password with proof of the old one; the session goes on, with new tokens where there are any.
  package func changePassword(_ params: ChangePassword.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    let sentAt = now
    try askWithToken(.changePassword, params.profile, caller) { provider, token throws(ProviderFailure) in
      try await provider.changePassword(from: params.oldPassword, to: params.newPassword, accessToken: token)
    } then: { broker, slot, isPresent, tokens in
      guard let tokens else { return broker.answer(caller, Empty()) }
      guard isPresent, slot.machine.living != nil else {
        broker.revokeLater(tokens, of: slot)
        return broker.answer(caller, Empty())
      }
      broker.handle(.tokensReplaced(tokens, sentAt: sentAt), on: slot)
      broker.whenSettled(slot, .account(caller, slot.name))
    }
  }

  /// Removes the account at the provider, and then everything of its session here; the same user's sessions of other
  /// profiles are examined, since the provider has ended them too.
  package func deleteAccount(_ params: DeleteAccount.Params, _ caller: Caller<Empty>) throws(BrokerError) {
    try askWithToken(.deleteAccount, params.profile, caller) { provider, token throws(ProviderFailure) in
      try await provider.deleteAccount(password: params.password, accessToken: token)
    } then: { broker, slot, isPresent, _ in
      guard isPresent else { return broker.answer(caller, Empty()) }
      let others = broker.otherProfiles(ofUserOf: slot)
      broker.forgetSession(of: slot, .accountDeleted)
      broker.whenSettled(slot, .deletion(caller, slot.name, others: others))
    }
  }

  /// The other profiles at the same provider on which the same user is logged in.
  private func otherProfiles(ofUserOf slot: ProfileSlot) -> [ProfileName] {
    guard let present = slot.user?.id else { return [] }
    return slots.filter {
      $0 !== slot && $0.provider.binding == slot.provider.binding && $0.machine.living != nil && $0.user?.id == present
    }.map(\.name)
  }

  /// Changes what the provider knows of the account; what one could take it over with only for a user who has lately
  /// proved who they are, see ``RecentProof``.
  package func updateProfile(_ params: UpdateProfile.Params, _ caller: Caller<User>) throws(BrokerError) {
    let slot = try slot(for: params.profile, able: .updateProfile)
    if let living = slot.machine.living,
      RecentProof.isMissing(for: params.changes, authTime: living.authTime, at: now.wall)
    {
      throw BrokerError(.reauthRequired, profile: slot.name)
    }
    try askWithToken(.updateProfile, params.profile, caller) { provider, token throws(ProviderFailure) in
      try await provider.updateProfile(params.changes, accessToken: token)
    } then: { broker, slot, isPresent, user in
      broker.answer(caller, isPresent ? broker.note(user, on: slot) : .success(user))
    }
  }
}

/// How a provider is asked for more than tokens.
extension Broker {
  /// Asks the provider of a profile for something that needs no session, then goes on; a caller whose profile has gone
  /// meanwhile is answered at once.
  private func askWithoutToken(
    _ ability: ProviderAbility, _ profile: ProfileName?, about account: String? = nil, _ caller: Caller<Empty>,
    _ ask: @escaping @Sendable (any AuthProvider) async throws(ProviderFailure) -> Void,
    then go: @escaping @Sendable (isolated Broker, ProfileSlot) -> Void
  ) throws(BrokerError) {
    let slot = try slot(for: profile, able: ability)
    try admit(ability.call, account, on: slot)
    let (provider, name, id) = (slot.provider, slot.name, slot.id)
    inBackground {
      do throws(ProviderFailure) {
        try await ask(provider)
        return { broker in
          broker.noteCall(nil, of: name, id: id)
          guard let slot = broker.slot(named: name, id: id) else { return broker.answer(caller, Empty()) }
          go(broker, slot)
        }
      } catch {
        return { broker in
          broker.noteCall(error, of: name, id: id)
          broker.refuse(caller.id, Self.error(error, ability, name))
        }
      }
    }
  }

  /// The error of a call without a session; a token from a mail works once.
  private static func error(_ failure: ProviderFailure, _ ability: ProviderAbility, _ name: ProfileName) -> BrokerError
  {
    if ability == .verifyEmail || ability == .resetPassword, case .outcomeUnknown(let kind, _) = failure {
      return BrokerError(lostReply: kind, to: "token", profile: name)
    }
    return BrokerError(failure, profile: name)
  }

  /// Asks the provider of a profile for something with the session's access token, which is refreshed first where it is
  /// no longer good, and once more where the provider refuses it all the same.
  ///
  /// `go` is told whether the session is the present one still: its user may have gone, or be another, meanwhile.
  func askWithToken<Value: Sendable, Reply>(
    _ ability: ProviderAbility, _ profile: ProfileName?, _ caller: Caller<Reply>,
    _ ask: @escaping @Sendable (any AuthProvider, Secret) async throws(ProviderFailure) -> Value,
    then go: @escaping @Sendable (isolated Broker, ProfileSlot, Bool, Value) -> Void
  ) throws(BrokerError) {
    let slot = try slot(for: profile, able: ability)
    if slot.machine.living != nil { try admit(ability.call, nil, on: slot) }
    let call = TokenCall(
      profile: slot.name, slot: slot.id, session: SessionMark(slot), caller: caller.id, ask: ask, go: go)
    withAccessToken(GetAccessToken.Params(profile: slot.name)) { broker, result in
      broker.make(call, result, isRetry: false)
    }
  }

  /// One call of a provider that needs the access token.
  private struct TokenCall<Value: Sendable>: Sendable {
    let profile: ProfileName
    let slot: UInt64
    let session: SessionMark
    let caller: CallerID
    let ask: @Sendable (any AuthProvider, Secret) async throws(ProviderFailure) -> Value
    let go: @Sendable (isolated Broker, ProfileSlot, Bool, Value) -> Void
  }

  private func make<Value>(_ call: TokenCall<Value>, _ token: Result<Secret, BrokerError>, isRetry: Bool) {
    if case .failure(let error) = token { return refuse(call.caller, error) }
    guard let slot = slot(named: call.profile, id: call.slot), let living = slot.machine.living else {
      return refuse(call.caller, BrokerError(.loginRequired, profile: call.profile))
    }
    guard call.session.isPresent(on: slot) else { return refuse(call.caller, overtaken(call.profile)) }
    let (provider, accessToken) = (slot.provider, living.tokens.accessToken)
    inBackground {
      do throws(ProviderFailure) {
        let value = try await call.ask(provider, accessToken)
        return { broker in
          broker.noteCall(nil, of: call.profile, id: call.slot)
          guard let slot = broker.slot(named: call.profile, id: call.slot) else {
            return broker.refuse(call.caller, BrokerError(.unknownProfile, profile: call.profile))
          }
          call.go(broker, slot, call.session.isPresent(on: slot), value)
        }
      } catch {
        return { $0.refuse(call, accessToken, error, isRetry: isRetry) }
      }
    }
  }

  private func refuse<Value>(
    _ call: TokenCall<Value>, _ accessToken: Secret, _ failure: ProviderFailure, isRetry: Bool
  ) {
    noteCall(failure, of: call.profile, id: call.slot)
    if failure.kind == .forbidden, let slot = slot(named: call.profile, id: call.slot) { publishRefusal(403, on: slot) }
    guard failure == .tokenRefused, !isRetry else {
      return refuse(call.caller, BrokerError(failure, profile: call.profile))
    }
    withToken(insteadOf: ReportRejected.Params(profile: call.profile, accessToken: accessToken)) { broker, result in
      broker.make(call, result, isRetry: true)
    }
  }

  /// The profile that a request means, if its provider can do what is asked for.
  ///
  /// - Throws: `vaultLocked`, `unknownProfile`, `unsupportedByProvider`.
  func slot(for profile: ProfileName?, able ability: ProviderAbility) throws(BrokerError) -> ProfileSlot {
    try requireUnlocked()
    let slot = try slot(for: profile)
    guard slot.provider.abilities.contains(ability) else {
      throw BrokerError(.unsupportedByProvider, profile: slot.name)
    }
    return slot
  }

  /// What the configured profiles on a type of provider can do; nil where there is no such profile.
  package func abilities(ofType type: String) -> Set<ProviderAbility>? {
    let slots = slots.filter { $0.provider.binding.type == type }
    return slots.isEmpty ? nil : slots.reduce(into: []) { $0.formUnion($1.provider.knownAbilities) }
  }
}

extension ProviderAbility {
  /// What a use of it counts as.
  var call: CallLimiter.Call {
    switch self {
    case .register, .forgotPassword, .resendOtp: .message
    case .verifyEmail, .resetPassword: .mailToken
    case .getCurrentUser: .read
    case .updateProfile, .changePassword, .deleteAccount: .change
    case .verifyBackupCode: .code
    case .awaitLogin: .login
    }
  }
}
