package import BrokerProtocol
import SecretMemory

/// Requests that are sent for clients, which never see the token.
extension Broker {
  /// Sends a request with a profile's token; where the API refuses that, once more with another one.
  package func sendRequest(
    _ params: SendRequest.Params, _ caller: Caller<SendRequest.Result>
  ) throws(BrokerError) {
    let (request, slot) = try judged(params, as: caller.principal)
    let limited = try caller.principal.limited(
      to: slot.name, params.scopes, params.audience, own: slot.machine.living?.tokens.scopes)
    let target = try target(limited.scopes, limited.audience, on: slot)
    if caller.principal.confirmation(of: slot.name) != .never {
      let again: Method<SendRequest.Result> = { broker, caller throws(BrokerError) in
        try broker.sendRequest(params, caller)
      }
      let demand = Consents.Demand(
        slot: slot.id, method: SendRequest.name, scopes: limited.scopes, audience: limited.audience)
      guard try isConsented(demand, caller, again: again) else { return }
    }
    try ledger.require(.requestsSent, ledger.used(.requestsSent) + 1)
    _ = ledger.add(.requestsSent, 1)
    limit(caller.id, to: params.timeout)
    let call = RequestCall(
      request: request, slot: slot.id, session: SessionMark(slot), target: target, scopes: limited.scopes,
      audience: limited.audience, caller: caller)
    let wanted = GetAccessToken.Params(
      profile: slot.name, scopes: limited.scopes, audience: limited.audience, timeout: params.timeout)
    withAccessToken(wanted) { broker, result in
      broker.learnAddresses(of: call.slot) { broker in broker.send(call, result.failure, isRetry: false) }
    }
  }

  /// One request on its way.
  private struct RequestCall: Sendable {
    let request: APIRequest
    let slot: SlotID
    let session: SessionMark
    let target: TokenTarget?
    let scopes: [String]?
    let audience: String?
    let caller: Caller<SendRequest.Result>

    var profile: ProfileName { slot.profile }
  }

  // MARK: Rules

  /// A request and its profile – the one that it names, else the only one whose rules allow it – once it is judged.
  func judged(
    _ params: SendRequest.Params, as principal: Principal
  ) throws(BrokerError) -> (APIRequest, ProfileSlot) {
    let whole = params.url.hasPrefix("/") ? nil : try APIRequest(params)
    let none = { Self.allowedByNone(params, whole) }
    return try choose(params.profile, in: view(of: principal), orNone: none) { slot throws(BrokerError) in
      let request: APIRequest
      if let whole {
        request = whole
      } else {
        request = try APIRequest(params, at: try Self.onlyServer(of: slot, orElse: "/url", "must be a whole address"))
      }
      try judge(request, on: slot)
      try Self.checkFields(of: request, on: slot)
      return (request, slot)
    }
  }

  private static func checkFields(of request: APIRequest, on slot: ProfileSlot) throws(BrokerError) {
    let own = slot.provider.capabilities.grant?.configuredField?.name.lowercased()
    guard let field = request.fields.first(where: { $0.name.lowercased() == own }) else { return }
    throw .unfit("/headers/\(field.name)", "must be absent: the broker sets this field")
  }

  private static func allowedByNone(_ params: SendRequest.Params, _ whole: APIRequest?) -> BrokerError {
    let place = whole.map { "at this address of \($0.origin)" } ?? "of this path, at a server that they name alone"
    return .allowedByNone("allow \(params.method) \(place)")
  }

  /// Judges a request by the rules of a profile.
  ///
  /// - Throws: `accessDenied`, with the rule.
  func judge(_ request: APIRequest, on slot: ProfileSlot) throws(BrokerError) {
    try judge(request.method, request.address, on: slot)
  }

  // MARK: Sending

  private func send(_ call: RequestCall, _ error: BrokerError?, isRetry: Bool) {
    if let error { return end(call, .failure(error)) }
    // Its client does not wait for it any more.
    guard callers[call.caller.id] != nil else { return end(call, .failure(BrokerError(.cancelled))) }
    guard let slot = slot(call.slot), let loan = token(of: slot, for: call.target) else {
      return end(call, .failure(BrokerError(.loginRequired, profile: call.profile)))
    }
    // Its user may have gone, or be another; and the rules may have changed.
    guard call.session.isPresent(on: slot) else { return end(call, .failure(BrokerError(overtaken: call.profile))) }
    do throws(BrokerError) { try judge(call.request, on: slot) } catch { return end(call, .failure(error)) }
    // Where a rule allows it, there is one.
    guard let sender = slot.requests?.sender else { return end(call, .failure(BrokerError(.internal))) }
    if !isRetry { noteUse(of: loan.token, for: call.target, slot, by: call.caller.principal) }
    inBackground(call.request.method.hasNoBody ? .repeatable : .spent) {
      let result = await Self.answer(to: call.request, for: call.profile, with: loan, by: sender)
      return { broker in
        broker.take(
          result.mapError { BrokerError($0, of: call.request, profile: call.profile) }, to: call, loan.token,
          isRetry: isRetry)
      }
    }
  }

  /// Sends a request for a profile, and returns the outcome as a value.
  static func answer(
    to request: APIRequest, for profile: ProfileName, with loan: LentToken, by sender: any APISender
  ) async -> Result<APIAnswer, ProviderFailure> {
    do throws(ProviderFailure) {
      return .success(
        try await ProviderCall.run(for: profile) { () async throws(ProviderFailure) in
          try await sender.send(request, with: loan)
        })
    } catch { return .failure(error) }
  }

  private func take(
    _ result: Result<APIAnswer, BrokerError>, to call: RequestCall, _ token: BoundToken, isRetry: Bool
  ) {
    guard case .success(let answer) = result else { return end(call, result) }
    if answer.status == 403, let slot = slot(call.slot) { publishRefusal(403, on: slot) }
    guard answer.status == 401, !isRetry else { return end(call, result) }
    let report = ReportRejected.Params(
      profile: call.profile, accessToken: token.value, scopes: call.scopes, audience: call.audience,
      challenge: answer.headers["www-authenticate"])
    withToken(insteadOf: report) { broker, replaced in
      broker.send(call, replaced.failure, isRetry: true)
    }
  }

  private func end(_ call: RequestCall, _ result: Result<APIAnswer, BrokerError>) {
    _ = ledger.add(.requestsSent, -1)
    answer(call.caller, result.map { SendRequest.Result($0) })
  }
}

extension SendRequest.Result {
  /// The answer of an API, as a client gets it: a body that is no text as base64.
  init(_ answer: APIAnswer) {
    let text = String(validating: answer.body, as: UTF8.self)
    self.init(
      status: answer.status, headers: answer.headers, body: text, bodyBytes: text == nil ? answer.body : nil)
  }
}

extension BrokerError {
  /// The error of a request that got no answer, or none that can be passed on.
  fileprivate init(_ failure: ProviderFailure, of request: APIRequest, profile: ProfileName) {
    if failure.kind == .invalidParams {
      self = .unfit("/url", "must be an address in which characters such as \" and { are percent-encoded")
      return
    }
    self.init(failure, profile: profile)
    let server = request.origin
    switch failure {
    case .outcomeUnknown:
      message = "The answer of \(server) was lost: whether the request was acted on is not known."
      isRetryable = request.method.hasNoBody
    case .transient(.networkUnavailable, _, _): message = "\(server) cannot be reached."
    case .transient(.timeout, _, _): message = "\(server) did not answer in time."
    case .transient(.tlsFailed, _, _), .transient(.tlsPinMismatch, _, _):
      message = "The certificate of \(server) cannot be trusted."
    case .rejected:
      message = "The answer of \(server) is malformed, or longer than \(SendRequest.mostBytes) bytes."
      nextAction = .fixRequest
    default: break
    }
  }
}
