package import BrokerProtocol

/// Asking the owner before a client gets a token.
extension Broker {
  /// Applies the owner's settings, to questions and answers to come.
  package func setConsentRules(_ rules: ConsentRules) { consents.rules = rules }

  /// Has clients described by the server, which knows their processes.
  package func describeClients(by describe: @escaping @Sendable (Principal) -> ConsentClient) {
    describeClient = describe
  }

  /// Whether a request may have a token now; if not, its owner is asked, and it is served once more after the answer.
  ///
  /// It comes behind all that hangs on the configuration alone, and before anything that hangs on the session: who is
  /// refused learns nothing of that.
  ///
  /// - Parameters:
  ///   - demand: the thing that it asks for.
  ///   - caller: who asks.
  ///   - again: serves it once more, as its principal is then.
  /// - Returns: false where it waits.
  /// - Throws: `consentDenied`.
  func isConsented<Value>(
    _ demand: Consents.Demand, _ caller: Caller<Value>, again: @escaping Method<Value>
  ) throws(BrokerError) -> Bool {
    let (id, principal) = (caller.id, caller.principal)
    let confirmation = principal.confirmation(of: demand.slot.profile)
    guard confirmation != .never else { return true }
    let resumption: Callers.Resumption = { broker, principal throws(BrokerError) in
      try again(broker, Caller(id, as: principal))
    }
    let consent = takeConsent(of: id, for: demand)
    noteConsented(id, for: demand.slot, again: resumption)
    if let consent {
      if let number = consent.grant { keepConsent(number, demand, for: principal.client) }
      return true
    }
    noteConsentUses()
    let asker = Consents.Asker(caller: id, client: describeClient(principal))
    let most = ledger.limits[.consents]
    switch consents.ask(demand, confirmation, asker, most: most, at: now.uptime, { entropy.handle() }) {
    case .granted(let number):
      keepConsent(number, demand, for: principal.client)
      return true
    case .overfull:
      ledger.note(.consents)
      throw .notConsented(demand.slot.profile)
    case .refused: throw .notConsented(demand.slot.profile)
    case .waits(let question, let isNew):
      hold(id, for: demand.slot.profile, resumption)
      if isNew { tellQuestion(question) }
      return false
    }
  }

  private func tellQuestion(_ id: String) {
    guard let question = consents.question(id, at: now.uptime) else { return }
    _ = ledger.add(.consents, 1)
    watchConsents()
    let shown = ConsentQuestion(question, remember: consents.rules.remember, at: now)
    publish(.consentRequested(shown), profile: shown.profile)
    notify(.consentAsked(shown))
  }

  /// Takes in that consents were used by the cache of answers.
  func noteConsentUses() {
    for use in answers.consentUses { consents.note(use.number, usedAt: .milliseconds(use.usedAt)) }
  }

  /// Lets the cache answer a connection by a consent, where that is for the session's own token.
  private func keepConsent(_ number: UInt64, _ demand: Consents.Demand, for client: ClientID?) {
    guard demand.method == GetAccessToken.name, demand.scopes == nil, demand.audience == nil, let client,
      let grant = consents.grant(number), let slot = slot(demand.slot), let position = profiles.position(of: slot)
    else { return }
    answers.keep(grant, for: client, at: position)
  }

  // MARK: Answers

  /// The questions that wait for an answer.
  package var waitingConsents: [ConsentQuestion] {
    let now = now
    return consents.questions.filter { now.uptime < $0.deadline }.map {
      ConsentQuestion($0, remember: consents.rules.remember, at: now)
    }
  }

  /// Takes an answer of the owner's.
  ///
  /// - Throws: `flowNotFound` where no question waits under the handle; `invalidParams` for a subject that it has not.
  package func answerConsent(_ params: AnswerConsent.Params) throws(BrokerError) {
    expireConsents()
    noteConsentUses()
    let decision: Consents.Decision?
    if params.allow {
      let subject = try consents.question(params.consentID, at: now.uptime).flatMap { question throws(BrokerError) in
        try question.subject(meantBy: params)
      }
      decision = consents.allow(params.consentID, for: subject, remember: params.remember, at: now.uptime)
    } else {
      decision = consents.refuse(params.consentID, remember: params.remember, at: now.uptime)
    }
    guard let decision else { throw .noQuestion }
    // The one that was not used for longest may have given way.
    answers.retainConsents { consents.grant($0) != nil }
    carryOut(decision)
  }

  /// Refuses the requests whose question's time is over.
  private func expireConsents() {
    for decision in consents.expire(at: now.uptime) { carryOut(decision) }
    watchConsents()
  }

  private func watchConsents() {
    consentTimer?.cancel()
    consentTimer = consents.nextDeadline.map { schedule(at: $0) { $0.expireConsents() } }
  }

  private func carryOut(_ decision: Consents.Decision) {
    let question = decision.question
    _ = ledger.add(.consents, -1)
    watchConsents()
    let decided = ConsentDecision(decision)
    note(AuditFact(decided))
    notify(.consentDecided(decided))
    for asker in question.askers {
      switch decision.outcome {
      case .allowed: resume(asker.caller, Callers.Consent(demand: question.demand, grant: decision.grant))
      case .refused, .unanswered: refuse(asker.caller, .notConsented(question.demand.slot.profile))
      case .withdrawn: resume(asker.caller)
      case .left: break
      }
    }
    for asker in decision.others { resume(asker.caller) }
  }

  // MARK: Ends

  /// Takes in that a request does not wait for an answer any more.
  func leaveConsent(_ caller: CallerID) {
    if let decision = consents.leave(caller) { carryOut(decision) }
  }

  /// Ends the questions about a profile's stay, which is over: their requests find another one, or none.
  func retireConsents(of slot: SlotID) {
    for decision in consents.retire(slot) { carryOut(decision) }
  }

  /// Ends all questions, and forgets all answers: the vault is locked, which their requests are told.
  func endConsents() {
    answers.forgetConsents()
    for decision in consents.lock() { carryOut(decision) }
  }
}

extension Consents.Question {
  /// The subject that an answer names; nil for the one that the question shows.
  ///
  /// - Throws: `invalidParams`.
  fileprivate func subject(meantBy params: AnswerConsent.Params) throws(BrokerError) -> ConsentSubject? {
    if let remember = params.remember, remember > Consents.longest {
      throw .unfit("/rememberSeconds", "must be at most \(Consents.longest.components.seconds)")
    }
    guard let word = params.subject ?? params.ancestor.map({ _ in "ancestor" }) else { return nil }
    if word == "process" { return client.ownProcess }
    guard isRemembered, !client.isForwarded else {
      throw .unfit("/subject", #"must be "process": the rule asks always, or the socket is forwarded"#)
    }
    switch word {
    case "ancestor": return try ancestor(params.ancestor)
    case "unit":
      guard let unit = client.unit else { throw .unfit("/subject", "is a unit, and the client has none") }
      return unit
    case "socket": return .socket(client.identity.socket)
    default: throw .unfit("/subject", "must be one of \(ConsentGrant.subjects.joined(separator: ", "))")
    }
  }

  private func ancestor(_ number: Int?) throws(BrokerError) -> ConsentSubject {
    guard let number else {
      if case .ancestor = subject { return subject }
      throw .unfit("/ancestor", "must be the pid of an ancestor: the question shows none by itself")
    }
    guard let link = client.chain.dropFirst().first(where: { Int($0.id.pid) == number && !$0.isManager }) else {
      throw .unfit("/ancestor", "must be the pid of an ancestor in the question's chain, and of no service manager")
    }
    return .ancestor(link.id)
  }
}

extension BrokerError {
  /// The refusal of a request without consent, whatever the reason: it tells no more than that.
  static func notConsented(_ profile: ProfileName) -> BrokerError {
    var error = BrokerError(
      .consentDenied, "The owner of this broker has not allowed this client a token of the profile \(profile).",
      profile: profile)
    error.nextAction = .askOwner
    return error
  }

  fileprivate static var noQuestion: BrokerError {
    var error = BrokerError(
      .flowNotFound,
      "No such question waits for an answer: it was answered, its time is over, or its requests have gone.")
    error.nextAction = .none
    return error
  }
}
