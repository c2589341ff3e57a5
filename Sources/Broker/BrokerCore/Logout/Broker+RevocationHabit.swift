import BrokerProtocol

/// The extent of a revocation at a provider: RFC 7009, section 2.1, leaves it to the provider.
package enum RevocationHabit: String, Sendable, CaseIterable {
  /// The session that the token is of, and no other.
  case token
  /// All that its user has granted to the client, other sessions included.
  case grant
  /// Nothing: the provider is not asked.
  case none
}

/// Finding out what else a provider ends with a revoked token.
extension Broker {
  /// The extent of a revocation at the provider: as the profile says, else as the provider's type says, else as
  /// observed; nil where nothing is known yet.
  func revocationHabit(of slot: ProfileSlot) -> RevocationHabit? {
    slot.machine.rules.revocation ?? slot.provider.capabilities.revocation?.habit ?? slot.view.revocation
  }

  /// Examines the session that a login has begun, once the one before it was revoked at a provider whose extent of
  /// revocation is unknown: whether the new session still lives shows it.
  ///
  /// A refresh that was on its way before shows nothing; the next revocation will.
  func learnHabit(after revocation: PendingRevocation, on slot: ProfileSlot) {
    guard revocationHabit(of: slot) == nil, !slot.machine.isSigningIn, !slot.machine.refreshState.wasSent,
      let tokens = slot.machine.living?.tokens, tokens.refreshToken != nil,
      !slot.provider.capabilities.areClientsOwn(tokens)
    else { return }
    if let user = revocation.userID, let present = slot.user?.id, user != present { return }
    let (id, session) = (slot.id, slot.sessions)
    let params = GetAccessToken.Params(profile: slot.name, timeout: Self.checkPatience, forceRefresh: true)
    withAccessToken(params) { broker, result in
      guard let slot = broker.slot(id), slot.sessions == session else { return }
      switch result {
      case .success: slot.view.revocation = .token
      case .failure(let error) where error.kind == .sessionExpired && slot.machine.living == nil:
        slot.view.revocation = .grant
      case .failure: break
      }
    }
  }
}
