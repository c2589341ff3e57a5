package import BrokerProtocol
import JSON
package import SecretMemory

/// The methods that give tokens.
extension Broker {
  /// Gives a token that lives long enough, refreshing it first where it does not.
  ///
  /// The answer is the JSON of an ``AccessToken``.
  package func accessToken(_ params: GetAccessToken.Params, _ caller: Caller<Secret>) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    let known: Method<Secret> = { broker, caller throws(BrokerError) in try broker.accessToken(params, caller) }
    guard isKnown(slot, caller, timeout: params.timeout, again: known) else { return }
    let limited = try caller.principal.limited(
      to: slot.name, params.scopes, params.audience, own: slot.machine.living?.tokens.scopes)
    let target = try target(limited.scopes, limited.audience, on: slot)
    if caller.principal.confirmation(of: slot.name) != .never {
      let again: Method<Secret> = { broker, caller throws(BrokerError) in try broker.accessToken(params, caller) }
      guard try isConsented(Consents.Demand(target, of: slot.id), caller, again: again) else { return }
    }
    let demand = TokenDemand(
      waiter: caller.id, minValidity: params.minValidity, forcesRefresh: params.forceRefresh,
      waitsForLogin: params.waitForLogin, target: target, isGivable: canGive(target, slot))
    wait(for: demand, on: slot, timeout: params.timeout)
  }

  private func wait(for demand: TokenDemand, on slot: ProfileSlot, timeout: Duration) {
    note(demand.waiter, waitsFor: .token(slot.name))
    limit(demand.waiter, to: timeout)
    handle(.tokenWanted(demand), on: slot)
  }

  /// Gets a token for the broker's own use, as ``accessToken(_:_:)`` does for a caller, then goes on.
  func withAccessToken(_ params: GetAccessToken.Params, then go: @escaping Callers.Continuation) {
    receive(own: go) { broker, caller throws(BrokerError) in try broker.accessToken(params, caller) }
  }

  /// Has a refused token replaced for the broker's own use, as ``reportRejected(_:_:)`` does for a caller, then goes on.
  func withToken(insteadOf report: ReportRejected.Params, then go: @escaping Callers.Continuation) {
    receive(own: go) { broker, caller throws(BrokerError) in try broker.reportRejected(report, caller) }
  }

  /// The rendered current token; it is kept for the hot path for as long as the session's state is the same.
  func currentToken(of slot: ProfileSlot, _ marks: TokenMarks) -> Result<Secret, BrokerError> {
    guard let living = slot.machine.living else { return .failure(BrokerError(.loginRequired, profile: slot.name)) }
    if let error = Self.refusal(of: living.tokens.accessToken, slot) { return .failure(error) }
    counts.tokens += 1
    // What the machine has decided last may have changed its state behind this answer.
    let isLasting = marks.isOffline == slot.machine.isOffline && !slot.machine.mustSeeNextUse
    if isLasting, let rendered = slot.rendered.answer(marks) {
      if autoLock.isOn, let position = profiles.position(of: slot) { answers.use(at: position, uptime: now.uptime) }
      return .success(rendered)
    }
    let tokens = living.tokens
    let tokenID = entropy.tokenID(of: tokens.accessToken.value)
    var token = AccessToken(
      accessToken: tokens.accessToken.value, expiresAt: slot.machine.shown(tokens.accessTokenExpiresAt),
      scopes: tokens.scopes, profile: slot.name, tokenID: tokenID, isOffline: marks.isOffline,
      isMinValidityCapped: marks.isCapped, tokenType: tokens.accessToken.kind.name)
    if let field = slot.provider.capabilities.grant?.configuredField {
      (token.tokenType, token.header) = (field.scheme, field.name)
    }
    let answer = rendered(token, of: slot)
    guard case .success(let json) = answer, isLasting else { return answer }
    keepAnswer(json, marks, of: slot)
    if let position = profiles.position(of: slot), let life = slot.machine.life {
      let cached = CachedAnswer(
        slot.rendered, named: tokenID, of: life, rules: slot.machine.rules, unwatched: autoLock.unwatched)
      answers.set(cached, at: position, usedAt: now.uptime)
    }
    return answer
  }

  /// Why a token is not given to clients; nil for one that servers take.
  static func refusal(of token: BoundToken, _ slot: ProfileSlot) -> BrokerError? {
    guard token.kind == .subject else { return nil }
    let message =
      "The token of this profile is no bearer token (token_type N_A): no API takes it, it is only the subject of another "
      + "profile, which names this one with from."
    var error = BrokerError(.providerRejected, message, profile: slot.name)
    error.nextAction = .fixConfig
    return error
  }

  /// Keeps a rendered answer; where there are too many, the oldest ones go.
  private func keepAnswer(_ json: Secret, _ marks: TokenMarks, of slot: ProfileSlot) {
    let (number, evicted) = answerRoom.add(json, of: slot.id)
    slot.rendered.keep(json, number: number, marks)
    forget(evicted)
  }

  private func forget(_ entries: [AnswerRoom.Entry]) {
    for entry in entries {
      guard let other = self.slot(entry.slot), other.rendered.has(entry.number) else { continue }
      forgetAnswer(of: other)
    }
  }

  /// Makes secrets; where there is no room for them, all rendered answers are forgotten first: those can be made again.
  func withRoom<Value>(
    _ body: () throws(SecretMemoryExhausted) -> Value
  ) throws(SecretMemoryExhausted) -> Value {
    do throws(SecretMemoryExhausted) { return try body() } catch {
      let rendered = answerRoom.clear()
      guard !rendered.isEmpty else { throw error }
      forget(rendered)
      return try body()
    }
  }

  /// A result with a token as JSON, in the locked memory.
  func rendered(_ result: some JSONEncodable, of slot: ProfileSlot) -> Result<Secret, BrokerError> {
    do throws(SecretMemoryExhausted) {
      return .success(
        try withRoom { () throws(SecretMemoryExhausted) in
          var writer = JSONWriter()
          result.encode(to: &writer)
          return try Secret(wiping: &writer.bytes)
        })
    } catch {
      return .failure(BrokerError(.overloaded, BrokerError.secretMemoryMessage, profile: slot.name))
    }
  }

  /// Takes the report that a server refused a token, and gives the token to use instead: one for the same target.
  package func reportRejected(_ params: ReportRejected.Params, _ caller: Caller<Secret>) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    let known: Method<Secret> = { broker, caller throws(BrokerError) in try broker.reportRejected(params, caller) }
    guard isKnown(slot, caller, again: known) else { return }
    guard params.status == 401 || params.status == 403 else {
      throw BrokerError(.invalidParams, "The parameter /status must be 401 or 403.", pointer: "/status")
    }
    guard params.accessToken != nil || params.tokenID != nil else {
      throw BrokerError(
        .invalidParams, "One of the parameters /accessToken and /tokenId must be present.", pointer: "/accessToken")
    }
    guard caller.principal.mayHold(slot.name) else {
      var report = params
      report.profile = slot.name
      return withToken(insteadOf: report) { broker, result in broker.acknowledge(caller.id, result.failure) }
    }
    let report = try report(params, on: slot)
    let scopes = report.target?.scopes ?? []
    let limited = try caller.principal.limited(
      to: slot.name, scopes.isEmpty ? nil : scopes, report.target?.audience, own: slot.machine.living?.tokens.scopes)
    let target = try target(limited.scopes, limited.audience, on: slot)
    if caller.principal.confirmation(of: slot.name) != .never {
      let again: Method<Secret> = { broker, caller throws(BrokerError) in try broker.reportRejected(params, caller) }
      let target = try wider(params, target, slot) ?? target
      guard try isConsented(Consents.Demand(target, of: slot.id), caller, again: again) else { return }
    }
    if try stepUp(params, target, slot, caller) { return }
    publishRefusal(params.status, on: slot)
    // A client that may have other tokens only does not know the one that it reports.
    let isRefused = params.status == 401 && report.isCurrent && target == report.target
    let demand = TokenDemand(
      waiter: caller.id, minValidity: .zero, forcesRefresh: isRefused, isRefused: isRefused, target: target,
      isGivable: canGive(target, slot))
    wait(for: demand, on: slot, timeout: .seconds(25))
  }

  /// Tells that a server has refused the session's token.
  func publishRefusal(_ status: Int, on slot: ProfileSlot) {
    guard slot.machine.living != nil else { return }
    let event = RefusalEvent(status: status)
    let isNews = publishRarely(status == 403 ? .forbidden(event) : .unauthorized(event), of: slot)
    // A server that refuses what the user's roles allow may know of newer ones.
    if isNews, status == 403 { askForUserAgain(slot) }
  }

  /// Tells all callers that wait for a login that none will come; logins that wait for their user rest in the store.
  package func refuseLoginWaiters() {
    for slot in slots where !slot.machine.demandsForLogin.isEmpty {
      handle(.loginWaitsEnded(BrokerError(.shuttingDown, profile: slot.name)), on: slot)
    }
    stopWaitingForUsers()
  }
}
