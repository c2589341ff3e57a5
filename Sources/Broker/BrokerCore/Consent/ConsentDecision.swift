package import BrokerProtocol

/// The end of a question: for the log, the audit, and the program that may be asking still.
package struct ConsentDecision: Sendable, Equatable {
  /// The way in which it has ended.
  package enum Outcome: Equatable, Sendable {
    /// Its owner has allowed it: for this subject, remembered so long while it is not used.
    case allowed(ConsentSubject, remember: Duration)
    /// Its owner has refused it.
    case refused
    /// No answer came in time.
    case unanswered
    /// The vault was locked, or its profile has gone.
    case withdrawn
    /// None of its requests waits any more.
    case left

    /// The word for one that allows.
    static let allowedWord = "allowed"

    /// One word for it.
    package var word: String {
      switch self {
      case .allowed: Self.allowedWord
      case .refused: "refused"
      case .unanswered: "unanswered"
      case .withdrawn: "withdrawn"
      case .left: "left"
      }
    }
  }

  /// The handle of the question.
  package let id: String
  /// The profile.
  package let profile: ProfileName
  /// The method that gives the token.
  package let method: String
  /// The scopes; nil for the session's own.
  package let scopes: [String]?
  /// The audience; nil for the session's own.
  package let audience: String?
  /// The client that has asked first.
  package let client: ConsentClient
  /// The outcome.
  package let outcome: Outcome
}

extension ConsentDecision {
  /// The decision of the room.
  init(_ decision: Consents.Decision) {
    let demand = decision.question.demand
    self.init(
      id: decision.question.id, profile: demand.slot.profile, method: demand.method, scopes: demand.scopes,
      audience: demand.audience, client: decision.question.client, outcome: decision.outcome)
  }
}

extension ConsentSubject {
  /// It as clients are told, remembered so long.
  package func shown(remember: Duration) -> ConsentGrant {
    switch self {
    case .process(let process): ConsentGrant(subject: "process", pid: Int(process.pid), remember: remember)
    case .connection: ConsentGrant(subject: "process", remember: remember)
    case .ancestor(let process): ConsentGrant(subject: "ancestor", pid: Int(process.pid), remember: remember)
    case .unit(let unit, _, _): ConsentGrant(subject: "unit", unit: unit, remember: remember)
    case .socket(let socket): ConsentGrant(subject: "socket", socket: socket, remember: remember)
    }
  }
}

extension ConsentClientState {
  /// A client as of now.
  fileprivate init(_ client: ConsentClient, at now: Moment) {
    self.init(
      ClientIdentity(client.identity),
      chain: client.chain.map { link in
        ConsentProcess(
          pid: Int(link.id.pid), startedAt: now.wall + (link.id.startedAt - now.uptime), command: link.command,
          executable: link.executable)
      })
  }
}

extension ConsentQuestion {
  /// A question as of now; `remember` is the owner's setting.
  init(_ question: Consents.Question, remember: Duration, at now: Moment) {
    let demand = question.demand
    self.init(
      consentID: question.id, profile: demand.slot.profile, method: demand.method, scopes: demand.scopes,
      audience: demand.audience, client: ConsentClientState(question.client, at: now),
      confirm: question.confirmation.rawValue, forwarded: question.client.isForwarded ? true : nil,
      grants: question.subject.shown(remember: question.isRemembered ? remember : .zero),
      requests: question.askers.count, expiresAt: now.wall + (question.deadline - now.uptime))
  }
}
