import BrokerProtocol
import SecretMemory

/// Demands of servers that a refresh alone cannot meet.
extension Broker {
  /// Answers the report of a refusal that wants more than another token.
  ///
  /// More scopes are asked for with the session's refresh token first; what only a user can give is remembered for the next
  /// login, and told.
  ///
  /// - Returns: whether it has answered, or will.
  /// - Throws: `invalidParams` for a malformed challenge; `reauthRequired`.
  func stepUp(
    _ params: ReportRejected.Params, _ target: TokenTarget?, _ slot: ProfileSlot, _ caller: Caller<Secret>
  ) throws(BrokerError) -> Bool {
    guard let challenge = params.challenge, let living = slot.machine.living else { return false }
    guard let stepUp = try StepUp(challenge, besides: Self.scopes(of: target, living)) else { return false }
    publishRefusal(params.status, on: slot)
    if slot.machine.isConfigured { throw stepUp.errorOfSecret(slot.name) }
    guard !stepUp.wantsUser else {
      demand(stepUp, on: slot)
      throw stepUp.error(slot.name)
    }
    let (id, name) = (slot.id, slot.name)
    _ = try caller.principal.limited(to: name, stepUp.scopes, target?.audience, own: nil)
    let question = GetAccessToken.Params(profile: name, scopes: stepUp.scopes, audience: target?.audience)
    withAccessToken(question) { broker, result in
      guard case .failure(let error) = result, Self.needsConsent(error) else {
        return broker.answer(
          caller.id, token: result, as: broker.grant(of: id, forScopes: stepUp.scopes, target?.audience))
      }
      if let slot = broker.slot(id) { broker.demand(stepUp, on: slot) }
      broker.refuse(caller.id, stepUp.error(name))
    }
    return true
  }

  /// The target of the token that answers the report of a refusal which wants more scopes; nil where it is the one that was
  /// reported.
  ///
  /// - Throws: `invalidParams` for a malformed challenge.
  func wider(
    _ params: ReportRejected.Params, _ target: TokenTarget?, _ slot: ProfileSlot
  ) throws(BrokerError) -> TokenTarget? {
    guard let challenge = params.challenge, let living = slot.machine.living,
      let stepUp = try StepUp(challenge, besides: Self.scopes(of: target, living)), !stepUp.wantsUser
    else { return nil }
    return TokenTarget(scopes: stepUp.scopes, audience: target?.audience)
  }

  /// The scopes that a session's token for a target has.
  private static func scopes(of target: TokenTarget?, _ living: LivingSession) -> [String] {
    (target?.scopes ?? []).reduce(into: living.tokens.scopes) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Remembers the demands until the next login, also across a restart.
  private func demand(_ stepUp: StepUp, on slot: ProfileSlot) {
    slot.stepUp = stepUp
    handle(.loginDemanded(stepUp), on: slot)
  }

  /// Whether a session cannot be given more scopes without its user (RFC 6749, section 6).
  private static func needsConsent(_ error: BrokerError) -> Bool {
    [.insufficientScope, .reauthRequired, .unsupportedByProvider].contains(error.kind)
  }
}

extension Credentials {
  /// Takes in the demands of a server; scopes that the caller names hold.
  mutating func take(_ stepUp: StepUp?) {
    guard let stepUp else { return }
    self.stepUp = stepUp
    if scopes.isEmpty || wantsFreshProof { scopes = stepUp.scopes }
  }
}
