package import BrokerProtocol
package import SecretMemory

/// ID tokens for clients whose servers ask for them.
extension Broker {
  /// Gives the session's ID token; one that has expired, or will within the profile's skew, is refreshed first.
  ///
  /// That is the ordinary refresh of the session, which all callers share. Some providers give an ID token at a login
  /// only: its expiry is then the caller's matter, and only another authentication brings a new one. A living token is
  /// answered although a newer one is not available.
  ///
  /// The answer is the JSON of an ``IdentityToken``.
  package func idToken(_ params: GetIDToken.Params, _ caller: Caller<Secret>) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    let principal = caller.principal
    guard principal.mayHold(slot.name) else { throw .mayOnlyUse(slot.name, by: principal.permissions) }
    guard slot.allowsIDToken else { throw Self.idTokenDenied(slot.name) }
    let known: Method<Secret> = { broker, caller throws(BrokerError) in try broker.idToken(params, caller) }
    guard isKnown(slot, caller, again: known) else { return }
    if principal.confirmation(of: slot.name) != .never {
      let demand = Consents.Demand(slot: slot.id, method: GetIDToken.name)
      let again: Method<Secret> = { broker, caller throws(BrokerError) in try broker.idToken(params, caller) }
      guard try isConsented(demand, caller, again: again) else { return }
    }
    let id = slot.id
    noticeUse(of: slot, now)
    if let living = slot.machine.living, !slot.machine.isIdleOver(at: now) {
      guard let held = HeldIDToken(of: living, slot.machine.dating, at: now) else {
        throw Self.idTokenMissing(slot.name)
      }
      let skew = slot.machine.policy.skew
      if held.isGood(for: skew, at: now) || held.isLastWord(for: skew) {
        noteUse(of: slot)
        return answer(caller.id, token: idToken(held, slot), as: idTokenGrant(of: slot))
      }
    }
    withAccessToken(GetAccessToken.Params(profile: slot.name, forceRefresh: true)) { broker, result in
      broker.answer(
        caller.id, token: broker.idToken(after: result, of: id), as: broker.slot(id).flatMap(broker.idTokenGrant))
    }
  }

  /// The ID token, or the error for its caller, after a refresh.
  private func idToken(after refresh: Result<Secret, BrokerError>, of id: SlotID) -> Result<Secret, BrokerError> {
    guard vault.isOpen, let slot = slot(id), let living = slot.machine.living else {
      return .failure(refresh.failure ?? BrokerError(.loginRequired, profile: id.profile))
    }
    guard let held = HeldIDToken(of: living, slot.machine.dating, at: now) else {
      return .failure(Self.idTokenMissing(id.profile))
    }
    // A session that cannot be refreshed lives on: it is the ID token that has ended.
    if !held.isAlive(at: now), case .failure(let error) = refresh, error.kind != .loginRequired {
      return .failure(error)
    }
    return idToken(held, slot)
  }

  private func idToken(_ held: HeldIDToken, _ slot: ProfileSlot) -> Result<Secret, BrokerError> {
    guard held.isAlive(at: now) else {
      let message = "The ID token has expired, and the provider issues another one only after a new login."
      return .failure(BrokerError(.reauthRequired, message, profile: slot.name))
    }
    return rendered(IdentityToken(idToken: held.token, expiresAt: held.end), of: slot)
  }

  private static func idTokenDenied(_ profile: ProfileName) -> BrokerError {
    var error = BrokerError(
      .accessDenied, "ID tokens are not allowed for this profile; set allowIdToken: true in the configuration.",
      profile: profile)
    error.nextAction = .fixConfig
    return error
  }

  /// The error for a session without an ID token.
  static func idTokenMissing(_ profile: ProfileName) -> BrokerError {
    let message =
      "The session has no ID token: its provider issues none, or the login did not request the scope openid."
    return BrokerError(.unsupportedByProvider, message, profile: profile)
  }
}
