package import BrokerProtocol
package import SecretMemory

/// Proofs of possession for clients that hold a token which is bound to a key (RFC 9449).
extension Broker {
  /// Makes a proof for one request with a present token: the session's own, or one for another target.
  ///
  /// It is given to whom that very token is given, and asks for consent as that does. The answer is the JSON of a
  /// `CreateProof.Result`.
  package func createProof(_ params: CreateProof.Params, _ caller: Caller<Secret>) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    let principal = caller.principal
    guard principal.mayHold(slot.name) else { throw .mayOnlyUse(slot.name, by: principal.permissions) }
    let request = try Self.request(params)
    let (token, target) = try presentToken(params.tokenID, principal, slot)
    guard let prover = slot.provider.capabilities.proofs else {
      throw BrokerError(.unsupportedByProvider, Self.needsNoProof, profile: slot.name)
    }
    if principal.confirmation(of: slot.name) != .never {
      let again: Method<Secret> = { broker, caller throws(BrokerError) in try broker.createProof(params, caller) }
      guard try isConsented(Consents.Demand(target, of: slot.id), caller, again: again) else { return }
    }
    noteUse(of: slot)
    let id = slot.id
    let grant = Grant(
      profile: slot.name, scopes: target?.scopes ?? [], audience: target?.audience, tokenID: params.tokenID)
    inBackground {
      let result = Result { () throws(ProviderFailure) in try prover.proof(of: token, for: request) }
      return { broker in broker.answer(caller.id, token: broker.rendered(result, id), as: grant) }
    }
  }

  /// The token of a name, which is a present one of the session, with its target.
  ///
  /// - Throws: `accessDenied` for one that the client may not have; `invalidParams` for one that is not present any more;
  ///   `unsupportedByProvider` for a bearer token.
  private func presentToken(
    _ name: String, _ principal: Principal, _ slot: ProfileSlot
  ) throws(BrokerError) -> (BoundToken, TokenTarget?) {
    guard let living = slot.machine.living, slot.machine.isServable(at: now) else {
      throw BrokerError(.loginRequired, profile: slot.name)
    }
    let named = slot.machine.target(ofTokenNamed: name)
    let limited = try principal.limited(to: slot.name, named?.scopes, named?.audience, own: living.tokens.scopes)
    let allowed = try target(limited.scopes, limited.audience, on: slot)
    guard slot.machine.isCurrent(tokenNamed: name, for: named), allowed == named else {
      throw BrokerError(
        .invalidParams,
        "No present token of this profile that this client may have is called that: get the present one by getAccessToken, "
          + "and make the proof for it.",
        profile: slot.name, pointer: "/tokenId")
    }
    let token = slot.machine.otherToken(for: named)?.bound ?? living.tokens.accessToken
    if let error = Self.refusal(of: token, slot) { throw error }
    guard token.kind == .proven else {
      throw BrokerError(.unsupportedByProvider, Self.needsNoProof, profile: slot.name)
    }
    return (token, named)
  }

  private static let needsNoProof =
    "The tokens of this profile are bound to no key and need no proof: send them as Bearer; dpop: true binds the tokens of "
    + "the next login."

  private static func request(_ params: CreateProof.Params) throws(BrokerError) -> ProvenRequest {
    do throws(ProvenRequest.Flaw) {
      return try ProvenRequest(method: params.method, url: params.url, nonce: params.nonce)
    } catch {
      let what =
        switch error {
        case .method: "a method of HTTP, such as GET"
        case .url: "an absolute address of https or http"
        case .nonce: "a value of the header DPoP-Nonce"
        }
      let pointer = "/\(error.rawValue)"
      throw BrokerError(.invalidParams, "The parameter \(pointer) must be \(what).", pointer: pointer)
    }
  }

  private func rendered(_ proof: Result<Secret, ProviderFailure>, _ id: SlotID) -> Result<Secret, BrokerError> {
    guard vault.isOpen, let slot = slot(id) else { return .failure(BrokerError(.loginRequired, profile: id.profile)) }
    return switch proof {
    case .success(let proof): rendered(CreateProof.Result(proof: proof), of: slot)
    case .failure(let failure): .failure(BrokerError(failure, profile: slot.name))
    }
  }
}
