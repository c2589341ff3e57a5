package import BrokerProtocol

/// The users of sessions, as their providers describe them.
extension Broker {
  /// Tells whose session it is, from memory where that is recent enough; a client's own has no user.
  package func currentUser(_ params: GetCurrentUser.Params, _ caller: Caller<User>) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    if slot.machine.isConfigured {
      throw BrokerError(
        .unsupportedByProvider,
        "The token of this profile is a secret of the configuration; it is not known whose it is.",
        profile: slot.name)
    }
    if let living = slot.machine.living, slot.provider.capabilities.areClientsOwn(living.tokens) {
      throw BrokerError(
        .unsupportedByProvider, "The session is the client's own (client credentials); it has no user.",
        profile: slot.name)
    }
    if let user = slot.user, slot.account.isFresh(within: params.maxAge, at: now.uptime) {
      noteUse(of: slot)
      return answer(caller, user)
    }
    try askWithToken(\.userInfo, .read, slot.name, caller) { provider, token throws(ProviderFailure) in
      try await provider.currentUser(accessToken: token)
    } then: { broker, slot, isPresent, user in
      guard isPresent else { return broker.answer(caller, user) }
      // Who the user is was asked, and not changed: that is answered on a full disk as well.
      broker.note(user, on: slot) { broker, result in broker.answer(caller, result.map(\.user)) }
    }
  }

  /// Keeps what the provider said of the session's user, then goes on: with the user, and whether that is durable.
  ///
  /// Another user is not believed: a reply must not be mistaken for one about another user (OpenID Connect Core, section
  /// 5.3.2).
  func note(
    _ user: User, on slot: ProfileSlot,
    then go: @escaping @Sendable (isolated Broker, Result<(user: User, isDurable: Bool), BrokerError>) -> Void
  ) {
    guard let living = slot.machine.living else { return go(self, .success((user, true))) }
    guard living.user.map({ $0.id == user.id }) ?? true else {
      let error = BrokerError(
        .invalidResponse, "The provider named a different user than the session's.", profile: slot.name)
      return go(self, .failure(error))
    }
    let session = SessionMark(slot)
    slot.account.waiting.append { [id = slot.id] broker, isDurable in
      if let slot = broker.slot(id), session.isPresent(on: slot) { slot.account.describedAt = broker.now.uptime }
      go(broker, .success((user, isDurable)))
    }
    handle(.userDescribed(user), on: slot)
  }

  /// Does what waits for the description of a session's user, once that is durable or refused by the store, or says the
  /// same as before; where the session has ended meanwhile, there is nothing to be kept.
  func answerDescriptions(of slot: ProfileSlot) {
    guard !slot.account.waiting.isEmpty, !slot.machine.isDescribing else { return }
    let (waiting, isDurable) = (slot.account.waiting, !slot.machine.isStoreDegraded)
    slot.account.waiting = []
    for go in waiting { go(self, isDurable) }
  }

  /// Asks who the session's user is once more: the provider may say something else now.
  func askForUserAgain(_ slot: ProfileSlot) {
    guard let tokens = slot.machine.living?.tokens, slot.provider.capabilities.userInfo != nil,
      !slot.provider.capabilities.areClientsOwn(tokens)
    else { return }
    let (session, accessToken) = (SessionMark(slot), tokens.accessToken)
    ask(slot, .repeatable) { provider throws(ProviderFailure) in
      try await provider.require(\.userInfo).currentUser(accessToken: accessToken)
    } then: { broker, slot, result in
      guard case .success(let user) = result, let slot, session.isPresent(on: slot) else { return }
      broker.note(user, on: slot) { _, _ in }
    }
  }
}
