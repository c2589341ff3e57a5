package import BrokerProtocol
import SecretMemory

/// What people do with their accounts.
extension Broker {
  /// Confirms an e-mail address.
  package func verifyEmail(_ params: VerifyEmail.Params, _ reply: @escaping Reply<Empty>) {
    askWithoutToken(.verifyEmail, params.profile, reply) { provider throws(ProviderFailure) in
      try await provider.verifyEmail(token: params.token)
    } then: { _, _, reply in
      reply(.success(Empty()))
    }
  }

  /// Has a token for a new password sent; the answer does not tell whether there is such an account.
  ///
  /// Some providers refuse an unknown address, each in its own way: what such a refusal may be is answered as a success.
  package func forgotPassword(_ params: ForgotPassword.Params, _ reply: @escaping Reply<Empty>) {
    askWithoutToken(.forgotPassword, params.profile, about: params.email, reply) { provider throws(ProviderFailure) in
      do throws(ProviderFailure) {
        try await provider.forgotPassword(email: params.email)
      } catch  where error.mayTellOfAccount {
        return
      }
    } then: { _, _, reply in
      reply(.success(Empty()))
    }
  }

  /// Sets a new password with the token of a mail.
  ///
  /// Nothing says whose token it was, so every session with the same binding is looked at: those that the provider has
  /// ended end here, and no other.
  package func resetPassword(_ params: ResetPassword.Params, _ reply: @escaping Reply<Empty>) {
    askWithoutToken(.resetPassword, params.profile, reply) { provider throws(ProviderFailure) in
      try await provider.resetPassword(token: params.token, newPassword: params.password)
    } then: { broker, slot, reply in
      let (name, binding) = (slot.name, slot.provider.binding)
      broker.check(broker.slots.filter { $0.provider.binding == binding }, .passwordReset) { _, failure in
        reply(Self.done(failure, name))
      }
    }
  }

  /// Sets a new password for whoever knows the old one; the session goes on, with new tokens where there are any.
  package func changePassword(_ params: ChangePassword.Params, _ reply: @escaping Reply<Empty>) {
    let sentAt = now
    askWithToken(.changePassword, params.profile, reply) { provider, token throws(ProviderFailure) in
      try await provider.changePassword(from: params.oldPassword, to: params.newPassword, accessToken: token)
    } then: { broker, slot, isPresent, tokens, reply in
      guard let tokens else { return reply(.success(Empty())) }
      guard isPresent, slot.machine.living != nil else {
        broker.revokeLater(tokens, of: slot)
        return reply(.success(Empty()))
      }
      broker.handle(.tokensReplaced(tokens, sentAt: sentAt), on: slot)
      broker.replyWhenSaved(slot, reply)
    }
  }

  /// Removes the account at the provider, and then everything of its session here; the same user's sessions of other
  /// profiles are looked at, since the provider has ended them too.
  package func deleteAccount(_ params: DeleteAccount.Params, _ reply: @escaping Reply<Empty>) {
    askWithToken(.deleteAccount, params.profile, reply) { provider, token throws(ProviderFailure) in
      try await provider.deleteAccount(password: params.password, accessToken: token)
    } then: { broker, slot, isPresent, _, reply in
      guard isPresent else { return reply(.success(Empty())) }
      let (name, others) = (slot.name, broker.otherProfiles(ofUserOf: slot))
      broker.endSession(of: slot, .accountDeleted) { [weak broker] result in
        guard let broker, case .success = result else { return reply(result) }
        broker.assumeIsolated { broker in
          broker.check(others.compactMap { broker.slot(named: $0) }, .accountDeleted) { _, failure in
            reply(Self.done(failure, name))
          }
        }
      }
    }
  }

  /// The other profiles at the same provider on which the same user is logged in.
  private func otherProfiles(ofUserOf slot: ProfileSlot) -> [ProfileName] {
    func user(_ slot: ProfileSlot) -> String? { (slot.user ?? slot.machine.living?.user)?.id }
    guard let present = user(slot) else { return [] }
    return slots.filter {
      $0 !== slot && $0.provider.binding == slot.provider.binding && $0.machine.living != nil && user($0) == present
    }.map(\.name)
  }

  /// Changes what the provider knows of the account; what one could take it over with only for a user who has lately
  /// proved who they are, see ``RecentProof``.
  package func updateProfile(_ params: UpdateProfile.Params, _ reply: @escaping Reply<User>) {
    do throws(BrokerError) {
      let slot = try slot(for: params.profile, able: .updateProfile)
      if let living = slot.machine.living,
        RecentProof.isMissing(for: params.changes, authTime: living.authTime, at: now.wall)
      {
        throw BrokerError(.reauthRequired, profile: slot.name)
      }
    } catch {
      return reply(.failure(error))
    }
    askWithToken(.updateProfile, params.profile, reply) { provider, token throws(ProviderFailure) in
      try await provider.updateProfile(params.changes, accessToken: token)
    } then: { broker, slot, isPresent, user, reply in
      reply(isPresent ? broker.note(user, on: slot) : .success(user))
    }
  }

  /// Ends the session here after the provider has ended it, and answers when that is durable.
  private func endSession(of slot: ProfileSlot, _ reason: LogoutEvent.Reason, _ reply: @escaping Reply<Empty>) {
    forgetSession(of: slot, reason)
    replyWhenSaved(slot, reply)
  }

  private func replyWhenSaved(_ slot: ProfileSlot, _ reply: @escaping Reply<Empty>) {
    guard slot.machine.settledGeneration < slot.machine.generation else { return reply(.success(Empty())) }
    let name = slot.name
    whenSaved(slot) { failure in reply(Self.done(failure, name)) }
  }

  /// What is answered once the provider has done its part, and the vault its own or not.
  private static func done(_ failure: StoreFailure?, _ profile: ProfileName) -> Result<Empty, BrokerError> {
    guard failure != nil else { return .success(Empty()) }
    let message = "The provider has done it, but the vault could not be written; it is tried again."
    return .failure(BrokerError(.storeFailed, message, profile: profile))
  }
}

/// How a provider is asked for more than tokens.
extension Broker {
  /// Asks the provider of a profile for something that needs no session.
  private func askWithoutToken(
    _ ability: ProviderAbility, _ profile: ProfileName?, about account: String? = nil, _ reply: @escaping Reply<Empty>,
    _ ask: @escaping @Sendable (any AuthProvider) async throws(ProviderFailure) -> Void,
    then finish: @escaping @Sendable (isolated Broker, ProfileSlot, @escaping Reply<Empty>) -> Void
  ) {
    let reply = unlessLocked(reply)
    do throws(BrokerError) {
      let slot = try slot(for: profile, able: ability)
      try admit(ability.call, account, on: slot)
      let (provider, name, id) = (slot.provider, slot.name, slot.id)
      inBackground {
        do throws(ProviderFailure) {
          try await ask(provider)
          return { broker in
            broker.noteCall(nil, of: name, id: id)
            guard let slot = broker.slot(named: name, id: id) else { return reply(.success(Empty())) }
            finish(broker, slot, reply)
          }
        } catch {
          return { broker in
            broker.noteCall(error, of: name, id: id)
            reply(.failure(Self.error(error, ability, name)))
          }
        }
      }
    } catch {
      reply(.failure(error))
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
  /// `finish` is told whether the session is the present one still: its user may have gone, or be another, meanwhile.
  func askWithToken<Value: Sendable, Answer: Sendable>(
    _ ability: ProviderAbility, _ profile: ProfileName?, _ reply: @escaping Reply<Answer>,
    _ ask: @escaping @Sendable (any AuthProvider, Secret) async throws(ProviderFailure) -> Value,
    then finish: @escaping @Sendable (isolated Broker, ProfileSlot, Bool, Value, @escaping Reply<Answer>) -> Void
  ) {
    let reply = unlessLocked(reply)
    do throws(BrokerError) {
      let slot = try slot(for: profile, able: ability)
      if slot.machine.living != nil { try admit(ability.call, nil, on: slot) }
      let call = TokenCall(
        profile: slot.name, slot: slot.id, session: SessionMark(slot), reply: reply, ask: ask, finish: finish)
      _ = accessToken(GetAccessToken.Params(profile: slot.name)) { [weak self] result in
        self?.assumeIsolated { $0.make(call, result, isRetry: false) }
      }
    } catch {
      reply(.failure(error))
    }
  }

  /// One call of a provider that needs the access token.
  private struct TokenCall<Value: Sendable, Answer: Sendable>: Sendable {
    let profile: ProfileName
    let slot: UInt64
    let session: SessionMark
    let reply: Reply<Answer>
    let ask: @Sendable (any AuthProvider, Secret) async throws(ProviderFailure) -> Value
    let finish: @Sendable (isolated Broker, ProfileSlot, Bool, Value, @escaping Reply<Answer>) -> Void
  }

  private func make<Value, Answer>(
    _ call: TokenCall<Value, Answer>, _ token: Result<Secret, BrokerError>, isRetry: Bool
  ) {
    if case .failure(let error) = token { return call.reply(.failure(error)) }
    guard let slot = slot(named: call.profile, id: call.slot), let living = slot.machine.living else {
      return call.reply(.failure(BrokerError(.loginRequired, profile: call.profile)))
    }
    guard call.session.isPresent(on: slot) else { return call.reply(.failure(overtaken(call.profile))) }
    let (provider, accessToken) = (slot.provider, living.tokens.accessToken)
    inBackground {
      do throws(ProviderFailure) {
        let value = try await call.ask(provider, accessToken)
        return { broker in
          broker.noteCall(nil, of: call.profile, id: call.slot)
          guard let slot = broker.slot(named: call.profile, id: call.slot) else {
            return call.reply(.failure(BrokerError(.unknownProfile, profile: call.profile)))
          }
          call.finish(broker, slot, call.session.isPresent(on: slot), value, call.reply)
        }
      } catch {
        return { $0.refuse(call, accessToken, error, isRetry: isRetry) }
      }
    }
  }

  private func refuse<Value, Answer>(
    _ call: TokenCall<Value, Answer>, _ accessToken: Secret, _ failure: ProviderFailure, isRetry: Bool
  ) {
    noteCall(failure, of: call.profile, id: call.slot)
    if failure.kind == .forbidden, let slot = slot(named: call.profile, id: call.slot) { publishRefusal(403, on: slot) }
    guard failure == .tokenRefused, !isRetry else {
      return call.reply(.failure(BrokerError(failure, profile: call.profile)))
    }
    let report = ReportRejected.Params(profile: call.profile, accessToken: accessToken)
    _ = reportRejected(report) { [weak self] result in
      self?.assumeIsolated { $0.make(call, result, isRetry: true) }
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
