import BrokerProtocol

/// The questions whether clients may have tokens, and the answers that are remembered.
///
/// Its laws: no request goes on without an answer or a consent that lives and whose subject includes its client; equal
/// questions are asked once; each waits for its time at most; nothing outlives the lock of the vault. A value: it does no
/// I/O; time comes in as an argument, and is uptime alone, which cannot be set and counts the time of a suspended machine.
struct Consents {
  /// The thing that is consented to.
  struct Demand: Hashable, Sendable {
    /// The profile's stay in the configuration: one that has come back is another.
    var slot: SlotID
    /// The method that gives the token.
    var method: String
    /// The scopes; nil for the session's own.
    var scopes: [String]?
    /// The audience; nil for the session's own.
    var audience: String?

    /// A token that a method gives, by default the session's own.
    init(slot: SlotID, method: String, scopes: [String]? = nil, audience: String? = nil) {
      (self.slot, self.method, self.scopes, self.audience) = (slot, method, scopes, audience)
    }

    /// An access token for a target; nil is the session's own.
    ///
    /// The report of one that was refused asks as the request for it does: both give the same.
    init(_ target: TokenTarget?, of slot: SlotID) {
      let scopes = target.flatMap { $0.scopes.isEmpty ? nil : $0.scopes }
      self.init(slot: slot, method: GetAccessToken.name, scopes: scopes, audience: target?.audience)
    }
  }

  /// The features by which questions are the same.
  fileprivate struct Key: Hashable {
    let demand: Demand
    let confirmation: Confirmation
    let subject: ConsentSubject
  }

  /// A request that waits for an answer.
  struct Asker: Sendable {
    /// Its caller.
    let caller: CallerID
    /// Its client.
    let client: ConsentClient
  }

  /// A question that waits for an answer.
  struct Question: Sendable {
    /// Its handle.
    let id: String
    /// The client that has asked first, and is shown.
    let client: ConsentClient
    /// The thing that is asked for.
    let demand: Demand
    /// How often the rule asks.
    let confirmation: Confirmation
    /// The subject of a consent that names none.
    let subject: ConsentSubject
    /// When its requests are refused.
    let deadline: Duration
    /// The requests.
    fileprivate(set) var askers: [Asker]

    /// Whether its answer is remembered, and may be for more than this process.
    var isRemembered: Bool { Consents.remembers(confirmation, client) }
    fileprivate var key: Key { Key(demand: demand, confirmation: confirmation, subject: subject) }
  }

  /// A consent that is remembered.
  struct Grant: Sendable {
    /// Names it.
    let number: UInt64
    /// The thing that is consented to.
    let demand: Demand
    /// The clients.
    let subject: ConsentSubject
    /// When it ends whatever is done.
    let end: Duration
    /// How long it lives without being used.
    let idle: Duration
    /// When it was last used.
    fileprivate(set) var usedAt: Duration

    /// Whether it lives.
    func isAlive(at uptime: Duration) -> Bool { uptime < end && uptime - usedAt < idle }
  }

  /// The longest that a consent is remembered: a working day, as password managers have it.
  static let longest = Duration.seconds(12 * 3600)
  /// The longest that a refusal is: a program that asks again and again brings up one question a minute.
  static let longestRefusal = Duration.seconds(60)
  /// The most consents that are remembered, and refusals: some for each of the programs of a session.
  ///
  /// The one that was not used for longest ends for another.
  static let mostGrants = 256

  /// The owner's settings.
  var rules = ConsentRules()
  /// The questions, the oldest first.
  private(set) var questions: [Question] = []
  /// The consents that are remembered.
  private(set) var grants: [Grant] = []
  private var refusals: [(key: Key, until: Duration)] = []
  /// Questions that their requests have left, by the socket that these came by: each keeps its place until its time is
  /// over, so that no client brings up more of them than of such that wait.
  private var left: [(socket: String?, until: Duration)] = []
  private var numbers: UInt64 = 0

  /// Whether an answer is remembered.
  fileprivate static func remembers(_ confirmation: Confirmation, _ client: ConsentClient) -> Bool {
    confirmation == .once && (!client.isForwarded || client.remembersForwarded)
  }
}

extension Consents {
  /// The state of a request's consent.
  enum Verdict: Equatable {
    /// It goes on, by this consent.
    case granted(UInt64)
    /// It is refused: so it was answered a short time ago.
    case refused
    /// It waits for the answer to this question; a new one is to be told.
    case waits(question: String, isNew: Bool)
    /// It is refused: too many questions wait.
    case overfull
  }

  /// Judges a request, and asks where that has to be.
  ///
  /// - Parameters:
  ///   - demand: the thing that it asks for.
  ///   - confirmation: how often its rule asks; not never.
  ///   - asker: its caller and client.
  ///   - most: how many questions may wait.
  ///   - uptime: now.
  ///   - id: makes the handle of a new question.
  /// - Returns: the verdict.
  mutating func ask(
    _ demand: Demand, _ confirmation: Confirmation, _ asker: Asker, most: Int, at uptime: Duration, _ id: () -> String
  ) -> Verdict {
    forgetEnded(at: uptime)
    let isRemembered = Self.remembers(confirmation, asker.client)
    if isRemembered,
      let index = grants.firstIndex(where: { $0.demand == demand && $0.subject.includes(asker.client) })
    {
      grants[index].usedAt = uptime
      return .granted(grants[index].number)
    }
    let subject = asker.client.defaultSubject(isRemembered: isRemembered, at: uptime)
    let key = Key(demand: demand, confirmation: confirmation, subject: subject)
    if refusals.contains(where: { $0.key == key }) { return .refused }
    if let index = questions.firstIndex(where: { $0.key == key && uptime < $0.deadline }) {
      questions[index].askers.append(asker)
      return .waits(question: questions[index].id, isNew: false)
    }
    // The clients of a limited socket, or the owner's programs, leave half of the questions to the others.
    let socket = asker.client.identity.socket
    let sockets = questions.map(\.client.identity.socket) + left.map(\.socket)
    guard sockets.count < most, sockets.count(where: { $0 == socket }) < max(1, most / 2) else { return .overfull }
    let question = Question(
      id: id(), client: asker.client, demand: demand, confirmation: confirmation, subject: subject,
      deadline: uptime + rules.patience, askers: [asker])
    questions.append(question)
    return .waits(question: question.id, isNew: true)
  }

  /// Takes in that a consent was used at this uptime without being asked for here.
  mutating func note(_ number: UInt64, usedAt uptime: Duration) {
    guard let index = grants.firstIndex(where: { $0.number == number }) else { return }
    grants[index].usedAt = max(grants[index].usedAt, uptime)
  }

  /// The consent of a number, if it is remembered.
  func grant(_ number: UInt64) -> Grant? { grants.first { $0.number == number } }

  private mutating func forgetEnded(at uptime: Duration) {
    grants.removeAll { !$0.isAlive(at: uptime) }
    refusals.removeAll { $0.until <= uptime }
    left.removeAll { $0.until <= uptime }
  }
}

/// The ends of questions.
extension Consents {
  /// A question that has ended, and the requests that waited for it.
  struct Decision: Sendable {
    /// The question, with the requests that get its outcome.
    var question: Question
    /// The outcome.
    var outcome: ConsentDecision.Outcome
    /// Requests whose client is not part of the chosen subject: they ask once more.
    var others: [Asker] = []
    /// The consent that is remembered; nil where none is.
    var grant: UInt64?
  }

  /// Takes out the question of a handle; nil where there is none, or its time is over, though nothing has noticed yet.
  private mutating func take(_ id: String, at uptime: Duration) -> Question? {
    guard let index = questions.firstIndex(where: { $0.id == id && uptime < $0.deadline }) else { return nil }
    return questions.remove(at: index)
  }

  /// The question of a handle; nil where there is none, or its time is over.
  func question(_ id: String, at uptime: Duration) -> Question? {
    questions.first { $0.id == id && uptime < $0.deadline }
  }

  /// Takes an answer that allows.
  ///
  /// - Parameters:
  ///   - id: the handle of the question.
  ///   - subject: the clients that have it from now on; nil for those that the question shows.
  ///   - remember: how long it is remembered without being used; nil as the owner has set.
  ///   - uptime: now.
  /// - Returns: the question; nil where none waits under this handle.
  mutating func allow(
    _ id: String, for subject: ConsentSubject? = nil, remember: Duration? = nil, at uptime: Duration
  ) -> Decision? {
    guard var question = take(id, at: uptime) else { return nil }
    let subject = subject ?? question.subject
    let idle = question.isRemembered ? min(remember ?? rules.remember, Self.longest) : .zero
    let others = question.askers.filter { !subject.includes($0.client) }
    let outcome = ConsentDecision.Outcome.allowed(subject, remember: idle)
    guard idle > .zero else {
      question.askers.removeAll { !subject.includes($0.client) }
      return Decision(question: question, outcome: outcome, others: others)
    }
    forgetEnded(at: uptime)
    grants.removeAll { $0.demand == question.demand && $0.subject == subject }
    if grants.count >= Self.mostGrants, let oldest = grants.indices.min(by: { grants[$0].usedAt < grants[$1].usedAt }) {
      grants.remove(at: oldest)
    }
    numbers += 1
    grants.append(
      Grant(
        number: numbers, demand: question.demand, subject: subject, end: uptime + Self.longest, idle: idle,
        usedAt: uptime))
    question.askers.removeAll { !subject.includes($0.client) }
    return Decision(question: question, outcome: outcome, others: others, grant: numbers)
  }

  /// Takes an answer that refuses.
  ///
  /// - Parameters:
  ///   - id: the handle of the question.
  ///   - remember: how long equal questions are refused; nil for as long as that is possible.
  ///   - uptime: now.
  /// - Returns: the question; nil where none waits under this handle.
  mutating func refuse(_ id: String, remember: Duration? = nil, at uptime: Duration) -> Decision? {
    guard let question = take(id, at: uptime) else { return nil }
    forgetEnded(at: uptime)
    let time = min(remember ?? Self.longestRefusal, Self.longestRefusal)
    if question.confirmation == .once, time > .zero {
      if refusals.count >= Self.mostGrants { refusals.removeFirst() }
      refusals.append((question.key, uptime + time))
    }
    return Decision(question: question, outcome: .refused)
  }

  /// Ends the questions whose time is over.
  mutating func expire(at uptime: Duration) -> [Decision] {
    takeAll { $0.deadline <= uptime }.map { Decision(question: $0, outcome: .unanswered) }
  }

  /// When the next question's time is over; nil where none waits.
  var nextDeadline: Duration? { questions.map(\.deadline).min() }

  /// Takes in that a request does not wait any more: a question that no other waits for ends with it.
  mutating func leave(_ caller: CallerID) -> Decision? {
    guard let index = questions.firstIndex(where: { $0.askers.contains { $0.caller == caller } }) else { return nil }
    guard questions[index].askers.count == 1 else {
      questions[index].askers.removeAll { $0.caller == caller }
      return nil
    }
    let question = questions.remove(at: index)
    left.append((question.client.identity.socket, question.deadline))
    return Decision(question: question, outcome: .left)
  }

  /// Ends the questions about a profile's stay, and forgets what was answered.
  mutating func retire(_ slot: SlotID) -> [Decision] {
    grants.removeAll { $0.demand.slot == slot }
    refusals.removeAll { $0.key.demand.slot == slot }
    return takeAll { $0.demand.slot == slot }.map { Decision(question: $0, outcome: .withdrawn) }
  }

  /// Ends all questions, and forgets all answers: the vault is locked.
  mutating func lock() -> [Decision] {
    (grants, refusals) = ([], [])
    return takeAll { _ in true }.map { Decision(question: $0, outcome: .withdrawn) }
  }

  private mutating func takeAll(where isMeant: (Question) -> Bool) -> [Question] {
    let taken = questions.filter(isMeant)
    questions.removeAll(where: isMeant)
    return taken
  }
}
