package import BrokerProtocol
import SecretMemory

/// A request of a door, for which it wants the token.
package struct LoanDemand: Sendable {
  /// The profile.
  package var profile: ProfileName
  /// The method of the request.
  package var method: APIRequest.Method
  /// Its address.
  package var address: TargetAddress
  /// Whether its body can be sent once only: a token that is about to end is replaced before.
  package var isStreamed: Bool
  /// The least life of a token with which a body is sent that cannot be sent again.
  private static let streamedValidity = Duration.seconds(60)
  /// How long the token has to live at least; nil for as long as usual.
  var minValidity: Duration? { isStreamed ? Self.streamedValidity : nil }
  /// The token that the server has refused, and its challenge; nil for the first sending.
  package var refused: (token: BoundToken, challenge: String?)?

  /// A request that is sent for the first time.
  package init(profile: ProfileName, method: APIRequest.Method, address: TargetAddress, isStreamed: Bool) {
    (self.profile, self.method, self.address) = (profile, method, address)
    self.isStreamed = isStreamed
  }

  /// The same, once the server has refused a token.
  package func replacing(_ token: BoundToken, _ challenge: String?) -> LoanDemand {
    var demand = self
    demand.refused = (token, challenge)
    return demand
  }
}

/// A door that is about to be opened.
package struct Doorway: Sendable {
  /// The profile whose token is attached.
  package let profile: ProfileName
  /// The server that requests go to.
  package let origin: TargetAddress.Origin
  /// The field in which clients send the placeholder, in lower case.
  package let slot: String

  fileprivate init(_ slot: ProfileSlot, _ origin: TargetAddress.Origin) {
    (profile, self.origin) = (slot.name, origin)
    self.slot = slot.provider.capabilities.grant?.configuredField?.name.lowercased() ?? "authorization"
  }
}

/// Tokens that are lent for one request each, to what sends it for a client.
extension Broker {
  /// Lends the token for one request, judged as one of a principal's.
  ///
  /// - Parameters:
  ///   - demand: the request.
  ///   - principal: who has it sent.
  ///   - memory: what keeps the loan for the next request, where it holds for that too.
  ///   - ends: how often all loans had ended before the principal was looked up: it may have less since.
  /// - Returns: the token, or why there is none.
  package func lend(
    _ demand: LoanDemand, to principal: Principal, keptIn memory: LoanMemory, since ends: UInt64
  ) async -> Result<LentToken, BrokerError> {
    await withCheckedContinuation { continuation in
      receive(
        own: { _, result in
          // A token comes another way.
          if let error = result.failure { continuation.resume(returning: .failure(error)) }
        }, as: principal
      ) { broker, caller throws(BrokerError) in
        try broker.lend(demand, caller) { token, standing in
          memory.keep(standing, since: ends)
          continuation.resume(returning: .success(token))
        }
      }
    }
  }

  private func lend(
    _ demand: LoanDemand, _ caller: Caller<Secret>, then go: @escaping @Sendable (LentToken, StandingLoan?) -> Void
  ) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: demand.profile)
    try judge(demand.method, demand.address, on: slot)
    let known: Method<Secret> = { broker, caller throws(BrokerError) in try broker.lend(demand, caller, then: go) }
    guard isKnown(slot, caller, again: known) else { return }
    let limited = try caller.principal.limited(
      to: slot.name, nil, nil, own: slot.machine.living?.tokens.scopes)
    let target = try target(limited.scopes, limited.audience, on: slot)
    if caller.principal.confirmation(of: slot.name) != .never {
      let again: Method<Secret> = { broker, caller throws(BrokerError) in try broker.lend(demand, caller, then: go) }
      let question = Consents.Demand(
        slot: slot.id, method: OpenDoor.name, scopes: limited.scopes, audience: limited.audience)
      guard try isConsented(question, caller, again: again) else { return }
    }
    let id = slot.id
    let finish: Callers.Continuation = { broker, result in
      if let error = result.failure { return broker.refuse(caller.id, error) }
      broker.learnAddresses(of: id) { $0.finish(demand, target, of: id, caller, then: go) }
    }
    guard let refused = demand.refused else {
      let wanted = GetAccessToken.Params(
        profile: slot.name, minValidity: demand.minValidity, scopes: limited.scopes,
        audience: limited.audience)
      return withAccessToken(wanted, then: finish)
    }
    withToken(
      insteadOf: ReportRejected.Params(
        profile: slot.name, accessToken: refused.token.value, scopes: limited.scopes, audience: limited.audience,
        challenge: refused.challenge), then: finish)
  }

  private func finish(
    _ demand: LoanDemand, _ target: TokenTarget?, of id: SlotID, _ caller: Caller<Secret>,
    then go: (LentToken, StandingLoan?) -> Void
  ) {
    guard let slot = slot(id), let loan = token(of: slot, for: target) else {
      return refuse(caller.id, BrokerError(.loginRequired, profile: demand.profile))
    }
    // The rules, and what is known of the provider, may be others now.
    do throws(BrokerError) { try judge(demand.method, demand.address, on: slot) } catch {
      return refuse(caller.id, error)
    }
    guard vault.isOpen else { return refuse(caller.id, BrokerError(.vaultLocked, profile: slot.name)) }
    // It may have been refused meanwhile.
    guard !isServedAgain(caller.id), release(caller.id) else { return }
    guard demand.refused == nil else { return go(loan, nil) }
    noteUse(of: loan.token, for: target, slot, by: caller.principal)
    let isAsked = caller.principal.confirmation(of: slot.name) != .never
    let standing = target == nil && !isAsked ? standing(loan, of: slot) : nil
    go(standing?.token ?? loan, standing)
  }

  /// A loan of the session's own token as one that holds for other requests; nil where each is to be judged here.
  private func standing(_ loan: LentToken, of slot: ProfileSlot) -> StandingLoan? {
    let span = lentSpan
    lentSpan = nil
    guard slot.provider.knowsAddresses, span != nil || !audit.isOn, let position = profiles.position(of: slot) else {
      return nil
    }
    return StandingLoan(
      token: loan.opened(), position: position, span: span, rules: slot.requests?.rules,
      providers: slots.map(\.provider))
  }

  /// The profile of a door that a principal wants to open, and the server that it is to.
  ///
  /// - Throws: `accessDenied` where no rule of the profile names the server; `invalidParams`.
  package func doorway(
    _ params: OpenDoor.Params, for principal: Principal
  ) throws(BrokerError) -> Doorway {
    var named: TargetAddress.Origin?
    if let text = params.origin {
      do throws(TargetAddress.Expected) { named = try TargetAddress(ofServer: text).origin } catch {
        throw .unfit("/origin", "must be \(error.expectation)")
      }
    }
    let none = { BrokerError.allowedByNone(named.map { "name \($0.text)" } ?? "name one server alone") }
    return try choose(params.profile, in: view(of: principal), orNone: none) { slot throws(BrokerError) in
      _ = try principal.limited(to: slot.name, nil, nil, own: slot.machine.living?.tokens.scopes)
      guard let named else { return Doorway(slot, try Self.onlyServer(of: slot, orElse: "/origin", "must be there")) }
      let rules = slot.requests?.rules
      guard rules?.allow.contains(where: { $0.origin == named }) == true else {
        throw BrokerError(.origin, .get, named, rules, of: slot.name)
      }
      return Doorway(slot, named)
    }
  }

  // MARK: For all requests

  /// The result of `make` for the profile of a name; without one, for the only profile for which it can be made.
  ///
  /// - Throws: why it cannot be made for the profile that is named. Without a name, `invalidParams` where it can be made
  ///   for several, or a parameter is wrong; else the error of none.
  func choose<Made>(
    _ name: ProfileName?, in view: View, orNone none: () -> BrokerError,
    _ make: (ProfileSlot) throws(BrokerError) -> Made
  ) throws(BrokerError) -> Made {
    guard name == nil, view.slots.count > 1 else { return try make(try view.slot(for: name)) }
    var (fitting, unfit): ([(ProfileName, Made)], BrokerError?) = ([], nil)
    for slot in view.slots {
      do throws(BrokerError) { fitting.append((slot.name, try make(slot))) } catch {
        if error.kind == .invalidParams { unfit = unfit ?? error }
      }
    }
    guard let (_, first) = fitting.first else { throw unfit ?? none() }
    guard fitting.count > 1 else { return first }
    let names = fitting.prefix(8).map { $0.0.description }.joined(separator: ", ")
    throw .unfit("/profile", "must be there: the rules of several profiles fit (\(names))")
  }

  /// The server of a request that names none: the only one of its profile's rules.
  ///
  /// - Throws: `accessDenied` where there are no rules; `invalidParams` where they name several.
  static func onlyServer(
    of slot: ProfileSlot, orElse pointer: String, _ demand: String
  ) throws(BrokerError) -> TargetAddress.Origin {
    guard let rules = slot.requests?.rules, !rules.allow.isEmpty else {
      throw BrokerError(requestsAreOffFor: slot.name)
    }
    guard let only = rules.onlyOrigin else {
      throw .unfit(pointer, "\(demand), since the rules of \(slot.name) name several servers")
    }
    return only
  }

  /// Judges a request by the rules of a profile, and by the addresses of all providers.
  ///
  /// - Throws: `accessDenied`, with the rule.
  func judge(_ method: APIRequest.Method, _ address: TargetAddress, on slot: ProfileSlot) throws(BrokerError) {
    try Self.judge(method, address, by: slot.requests?.rules, of: slot.name, slots.lazy.map(\.provider))
  }

  /// The same, by these rules of a profile and the addresses of these providers.
  static func judge(
    _ method: APIRequest.Method, _ address: TargetAddress, by rules: RequestRules?, of profile: ProfileName,
    _ providers: some Sequence<any AuthProvider>
  ) throws(BrokerError) {
    do throws(RequestRules.Refusal) {
      try (rules ?? RequestRules(allow: [])).judge(method, address)
    } catch { throw BrokerError(error, method, address.origin, rules, of: profile) }
    guard !providers.contains(where: { $0.issues(at: address) }) else { throw BrokerError(ownAddressOf: profile) }
  }

  /// Goes on once it is known where the provider of a profile makes tokens, or cannot be known.
  func learnAddresses(of id: SlotID, then go: @escaping @Sendable (isolated Broker) -> Void) {
    guard let slot = slot(id), !slot.provider.knowsAddresses else { return go(self) }
    let provider = slot.provider
    inBackground {
      await provider.learnAddresses()
      return go
    }
  }

  /// The token for a target, as it is sent.
  func token(of slot: ProfileSlot, for target: TokenTarget?) -> LentToken? {
    guard let own = slot.machine.living?.tokens.accessToken else { return nil }
    return LentToken(
      slot.machine.otherToken(for: target)?.bound ?? own, prover: slot.provider.capabilities.proofs,
      in: slot.provider.capabilities.grant?.configuredField)
  }

  /// Notes who had which token sent: the client is not given it, and it acts all the same.
  func noteUse(of token: BoundToken, for target: TokenTarget?, _ slot: ProfileSlot, by principal: Principal) {
    noteUse(of: slot)
    lentSpan = nil
    guard audit.isOn else { return }
    let other = slot.machine.otherToken(for: target)
    notify(
      .used(
        Grant(
          profile: slot.name, scopes: other?.scopes ?? slot.machine.living?.tokens.scopes ?? [],
          audience: other?.target.audience, tokenID: entropy.tokenID(of: token.value)),
        by: principal))
  }
}
