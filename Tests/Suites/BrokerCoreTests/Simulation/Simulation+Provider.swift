import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

/// What providers do with what they are asked.
extension Simulation {
  /// How long a call of a provider takes at most: the contract's bound for refreshes.
  static let patience = Duration.seconds(20)

  /// Looks at what the broker has asked since the last time.
  func noteQuestions() throws(Violation) {
    guard life.providers.count > lastQuestion else { return }
    for call in life.providers.calls where call.number > lastQuestion {
      sent[call.number] = Sent(sending: sending)
      trace.note("broker asks \(call.number) \(call.question.profile): \(call.question.question)")
      try checkSending(call.question, call.number)
    }
    lastQuestion = life.providers.count
  }

  private func checkSending(_ request: ProviderRequest, _ number: Int) throws(Violation) {
    switch request.question {
    case .refresh(let text), .target(let text, _):
      counts.refreshes += 1
      if case .target(_, let target) = request.question { try checkTarget(target) }
      if case .refresh = request.question { try checkPace(text, request) }
      try checkAddress(text, request)
      try checkSpending(text, number)
    case .revoke(let text?):
      try checkIssuer(text, request)
      try checkRevocation(text, request.profile)
    case .currentUser(let text): try checkAddress(text, request)
    case .verify(let flow, _), .resend(let flow):
      guard server.flows[flow]?.issuer == request.issuer else {
        throw Violation(.rightAddress, "\(flow) is sent to \(request.issuer)")
      }
    case .login: try checkLogin(request)
    case .revoke(nil): break
    }
  }

  /// What ends all of a user's grants, and is still on its way, ends no session that is begun within its first 2 seconds.
  private func checkLogin(_ request: ProviderRequest) throws(Violation) {
    guard server.endsWholeGrants else { return }
    for call in life.providers.calls
    where call.question.profile == request.profile && call.question.issuer == request.issuer {
      guard case .revoke = call.question.question, let sent = sent[call.number],
        life.clock.uptime < sent.sending.uptime + .seconds(2)
      else { continue }
      throw Violation(.sessionKept, "a login is sent while the revocation \(call.number) may still act")
    }
  }

  /// Nothing is asked for that the session's own token is good for.
  private func checkTarget(_ target: TokenTarget) throws(Violation) {
    counts.otherFlights += 1
    if target.audience == "doubtful" { counts.doubts += 1 }
    guard otherTarget(target) == target else { throw Violation(.targetKept, "\(target) is asked for") }
  }

  /// The broker may end at the provider only what nobody has, or wants, any more.
  private func checkRevocation(_ text: String, _ profile: ProfileName) throws(Violation) {
    guard let token = SimulatedServer.Token(text), let kept = durable.refreshToken(of: profile),
      kept.family == token.family || server.endsWholeGrants, kept.family >= revocable[profile] ?? 0,
      !durable.surprisingRecords.contains(profile),
      let state = session(profile)?.state
    else { return }
    guard Subscriber.State(state) != .alive else {
      throw Violation(.sessionKept, "\(text) is revoked, and nobody wanted that")
    }
    // It has begun, and goes on after a crash.
    revocable[profile] = max(revocable[profile] ?? 0, kept.family + 1)
  }

  /// The tokens of a profile that has left the configuration are revoked by another one with the same binding.
  private func checkIssuer(_ text: String, _ request: ProviderRequest) throws(Violation) {
    guard let token = SimulatedServer.Token(text), server.families[token.family].issuer == request.issuer else {
      throw Violation(.rightAddress, "\(text) is sent to \(request.issuer)")
    }
  }

  private func checkAddress(_ text: String, _ request: ProviderRequest) throws(Violation) {
    guard let token = SimulatedServer.Token(text), server.families[token.family].issuer == request.issuer,
      server.families[token.family].profile == request.profile
    else { throw Violation(.rightAddress, "\(text) is sent to \(request.issuer) for \(request.profile)") }
  }

  private func checkSpending(_ text: String, _ number: Int) throws(Violation) {
    guard let token = SimulatedServer.Token(text) else { return }
    noteLateOther(text)
    if mustBeIntended(token), !durable.intents.contains(server.families[token.family].profile) {
      throw Violation(.intended, "\(text) is sent")
    }
    for call in life.providers.calls where call.number < number {
      guard let other = call.question.question.spentToken, let other = SimulatedServer.Token(other),
        other.family == token.family
      else { continue }
      throw Violation(.oneFlight, "\(text) is sent while call \(call.number) is under way")
    }
    try noteSpending(token, text, call: number, life: life.number)
  }

  /// Whether the broker knows of no reply by which a refresh token is certain to stay the same; what it shares with
  /// another broker has its intents elsewhere.
  private func mustBeIntended(_ token: SimulatedServer.Token) -> Bool {
    let profile = server.families[token.family].profile
    return server.families[token.family].rotates && !seemsNotToRotate(token) && !durable.mayHaveParked
      && profiles.contains { $0.name == profile && !$0.isShared }
  }

  /// Notes that a refresh token is sent, by the broker or the other one.
  func noteSpending(_ token: SimulatedServer.Token, _ text: String, call: Int, life member: Int) throws(Violation) {
    let family = server.families[token.family]
    try spending.send(
      text, call: call, life: member, at: life.clock.uptime, grace: family.grace,
      mayRepeat: hasAccessEnded(token) || isAccessRefused(token) || seemsNotToRotate(token),
      hasDurableSuccessor: durable.spent.contains(token), rotates: family.rotates)
  }

  /// The access token that the broker has beside a refresh token: a later answer with the same refresh token may have been
  /// lost with a broker, this one or the other.
  private func ownToken(beside token: SimulatedServer.Token) -> String? {
    let profile = server.families[token.family].profile
    let kept = durable.refreshToken(of: profile) == token ? durable.living(profile)?.tokens.accessToken : nil
    return kept?.value.revealedString() ?? server.ownTokens["R\(token.family).\(token.number)"]
  }

  /// Whether the broker knows that a server has refused the access token that it has beside a refresh token.
  private func isAccessRefused(_ token: SimulatedServer.Token) -> Bool {
    ownToken(beside: token).map { refusedIn[$0] == life.number } ?? false
  }

  /// Whether nothing can be lost any more by sending a refresh token once more.
  func hasAccessEnded(_ token: SimulatedServer.Token) -> Bool {
    guard let own = ownToken(beside: token), let access = server.access[own], let end = access.endsAt else {
      return true
    }
    // The broker counts from when it asked, the provider from when it answered; and where nothing is sure, a token is old.
    return !isDated(access) || end - Self.patience <= life.clock.uptime
  }

  /// Lets one of the calls under way go on, well or not.
  func answerProvider(healthily: Bool = false) throws(Violation) {
    guard let call = life.providers.calls.randomElement(using: &random) else { return }
    try answerProvider(call, fateOfOutage(call, healthily) ?? drawFate(call.number, healthily: healthily))
  }

  /// What becomes of a call.
  enum Fate {
    /// The provider answers, and the answer arrives.
    case answered
    /// The provider is reached; its answer is still on the way.
    case reached
    /// The provider is certainly not reached, or does not act.
    case notActedOn(ProviderFailure)
    /// The reply is lost; the provider has acted, or not.
    case lost(hasActed: Bool)
    /// The provider wants to see the user again.
    case reauthentication
  }

  private func drawFate(_ number: Int, healthily: Bool) -> Fate {
    if healthily { return .answered }
    let isReached = sent[number]?.answer != nil
    if weather.isNetworkDown {
      return isReached ? .lost(hasActed: true) : .notActedOn(.transient(.networkUnavailable))
    }
    let draw = Double.random(in: 0..<1, using: &random)
    if isReached { return draw < 0.8 ? .answered : .lost(hasActed: true) }
    switch draw {
    case ..<0.62: return .answered
    // It has refused the request for its proof alone (RFC 9449, section 8).
    case ..<0.66: return .notActedOn(.transient(.providerUnavailable, cause: .proofWanted))
    case ..<0.76: return .reached
    case ..<0.88: return .notActedOn(drawTrouble())
    case ..<0.94: return .lost(hasActed: true)
    case ..<0.99: return .lost(hasActed: false)
    default: return .reauthentication
    }
  }

  private func drawTrouble() -> ProviderFailure {
    let wait = Duration.seconds(Int.random(in: 1...120, using: &random))
    let troubles: [ProviderFailure] = [
      .transient(.networkUnavailable), .transient(.providerUnavailable, retryAfter: wait),
      .transient(.rateLimited, retryAfter: wait), .transient(.invalidResponse), .transient(.tlsFailed),
      .misconfigured(.client), .transient(.overloaded),
    ]
    return troubles.randomElement(using: &random) ?? .transient(.timeout)
  }

  /// Lets a call end in a certain way.
  func answerProvider(_ call: Wire<ProviderRequest, ProviderAnswer>.Call, _ fate: Fate) throws(Violation) {
    trace.note("call \(call.number): \(fate)")
    guard var sent = self.sent[call.number] else { return }
    switch fate {
    case .answered:
      deliver(sent.answer ?? act(call, sent), to: call)
    case .reached:
      sent.answer = act(call, sent)
      self.sent[call.number] = sent
    case .notActedOn(let failure): deliver(.failure(failure), to: call, .notActedOn)
    case .lost(let hasActed):
      if hasActed, sent.answer == nil { _ = act(call, sent) }
      // A gateway's answer and a success that cannot be read are lost replies as well.
      let kinds: [ErrorKind] = [.timeout, .networkUnavailable, .providerUnavailable, .invalidResponse]
      deliver(.failure(.outcomeUnknown(kinds.randomElement(using: &random) ?? .timeout)), to: call, .unknown)
    case .reauthentication:
      guard case .refresh(let text) = call.question.question, let token = SimulatedServer.Token(text),
        server.families[token.family].isAlive
      else { return try answerProvider(call, .answered) }
      server.families[token.family].isAlive = false
      deliver(.failure(.reauthenticationRequired), to: call)
    }
    try turn()
  }

  private func act(_ call: Wire<ProviderRequest, ProviderAnswer>.Call, _ sent: Sent) -> ProviderAnswer {
    var when = sent.sending
    when.uptime = life.clock.uptime
    let answer = server.answer(call.question, when, &random)
    trace.note("provider: \(describe(answer))")
    return answer
  }

  private func describe(_ answer: ProviderAnswer) -> String {
    switch answer {
    case .tokens(let tokens): describe(tokens)
    case .session(let session), .outcome(.authenticated(let session)): describe(session.tokens)
    default: String("\(answer)".prefix(90))
    }
  }

  private func describe(_ tokens: TokenSet) -> String {
    "\(tokens.accessToken.value.revealedString() ?? "") until \(tokens.accessTokenExpiresAt?.description ?? "ever"), "
      + "\(tokens.refreshToken?.value.revealedString() ?? "no new refresh token")"
  }

  private func deliver(
    _ answer: ProviderAnswer, to call: Wire<ProviderRequest, ProviderAnswer>.Call,
    _ outcome: SpendingLedger.Outcome = .answered
  ) {
    learn(answer, call.question)
    if case .revoke(let text) = call.question.question, case .done = answer { noteExaminations(text, call.question) }
    spending.end(call.number, isRefusedTarget(call, answer) ? .notActedOn : outcome)
    if leavesTokenGood(answer, call.question) { spending.forget(call.number) }
    sent[call.number] = nil
    if case .currentUser(let text) = call.question.question, case .failure(.tokenRefused) = answer {
      refusedIn[text] = life.number
    }
    life.providers.answer(call.number, answer)
  }

  /// Where a provider ends whole grants, the sessions of other profiles are examined after each revocation, by a refresh.
  private func noteExaminations(_ text: String?, _ request: ProviderRequest) {
    guard plan.endsWholeGrants else { return }
    let token = text.flatMap { SimulatedServer.Token($0) }
    let owner = token.map { server.families[$0.family].profile } ?? request.profile
    for profile in profiles where profile.name != owner && profile.issuer == request.issuer {
      wishes.examined.insert(profile.name)
      eagerAt[profile.name] = life.clock.uptime
    }
  }

  /// Whether a target was refused and the refresh token not spent, as far as the broker can know.
  private func isRefusedTarget(
    _ call: Wire<ProviderRequest, ProviderAnswer>.Call, _ answer: ProviderAnswer
  ) -> Bool {
    guard case .target = call.question.question, case .failure(let failure) = answer else { return false }
    switch failure {
    case .refused, .reauthenticationRequired, .sessionEnded(_, alert: nil, _): return true
    default: return false
    }
  }

  /// Lets every call end that has taken too long: nobody knows whether it was acted on.
  func endLateCalls() throws(Violation) {
    for call in life.providers.calls {
      guard let sent = sent[call.number], sent.sending.uptime + Self.patience <= life.clock.uptime else { continue }
      try answerProvider(call, .lost(hasActed: sent.answer != nil || chance(0.5)))
    }
  }

  /// When the next of them will have.
  var nextCallEnd: Duration? {
    sent.values.map { $0.sending.uptime + Self.patience }.min()
  }
}
