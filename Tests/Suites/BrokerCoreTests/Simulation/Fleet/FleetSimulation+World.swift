import BrokerProtocol
import Fleet
import SecretMemory
import TestSupport

@testable import BrokerCore

/// What the place, the provider and the time do.
extension FleetSimulation {
  private func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

  /// How long a call of the provider takes at most.
  private static let patienceWithProvider = Duration.seconds(20)

  /// Lets one of the questions to the place go on.
  func answerRecord(healthily: Bool = false) throws(Violation) {
    let waiting = members.filter { !$0.isStopped && !$0.records.isIdle }
    guard let member = waiting.randomElement(using: &random) else { return }
    try answerRecord(of: member, healthily: healthily)
  }

  private func answerRecord(of member: FleetMember, healthily: Bool = false) throws(Violation) {
    guard let call = member.records.calls.first, let asked = member.asked[call.number] else { return }
    try checkCommits(of: member)
    if let answer = asked.answer {
      return try deliver(healthily || chance(0.9) ? answer : .failed, to: call, member)
    }
    if !healthily, isPlaceDown || member.isCutOff { return try deliver(.failed, to: call, member) }
    switch healthily ? 0 : Double.random(in: 0..<1, using: &random) {
    case ..<0.93: try deliver(try act(call.question), to: call, member, at: world)
    case ..<0.97:
      let answer = try act(call.question)
      member.asked[call.number]?.answer = answer
      noteView(call.question, member, call.number)
    case ..<0.985:
      _ = try act(call.question)
      try deliver(.failed, to: call, member)
    default: try deliver(.failed, to: call, member)
    }
  }

  /// A member makes one change at a time: the second of two would be refused, or be the first once more.
  private func checkCommits(of member: FleetMember) throws(Violation) {
    let underWay = member.records.calls.count { isChange($0.question, of: member) }
    if underWay > 1 { throw Violation(.oneFlight, "member \(member.number) makes \(underWay) changes at a time") }
  }

  private func noteView(_ question: RecordQuestion, _ member: FleetMember, _ number: Int) {
    if question.known != nil { member.views[number] = world }
  }

  /// Does in the place what was asked.
  @discardableResult
  func act(_ question: RecordQuestion) throws(Violation) -> RecordAnswer {
    let answer = place.answer(question, at: world)
    if case .write(let changes, let isTold) = question {
      guard case .written(true) = answer else {
        counts.conflicts += 1
        return answer
      }
      for change in changes { try noteWritten(change.name) }
      if isTold { tell(changes.count == 1 ? .written(changes[0].name, version: changes[0].new) : .everything) }
    }
    return answer
  }

  /// Tells the members of a write, as far as hints come: to its own writer as well.
  private func tell(_ telling: SharedTelling) {
    for member in members where member.isTold && !member.isStopped && !member.isCutOff && chance(0.8) {
      counts.told += 1
      member.view.tell(telling)
    }
  }

  /// Has the writes of others told to a member from now on, or no longer.
  func turnTelling(of member: FleetMember) {
    guard !member.isStopped, !member.isCutOff, !isPlaceDown else { return }
    member.isTold.toggle()
    trace.note("member \(member.number) is \(member.isTold ? "told" : "not told")")
    member.view.tell(member.isTold ? .began : .ended)
  }

  private func deliver(
    _ answer: RecordAnswer, to call: Wire<RecordQuestion, RecordAnswer>.Call, _ member: FleetMember,
    at time: Duration? = nil
  ) throws(Violation) {
    member.asked[call.number] = nil
    let readAt = time ?? member.views[call.number]
    member.views[call.number] = nil
    noteShown(answer, to: call.question, member)
    // One without the key of the fleet has read nothing.
    if call.question.known != nil, case .rows(let rows) = answer, keys.canOpen(rows, member), let readAt {
      member.viewedAt = max(member.viewedAt, readAt)
    }
    member.records.answer(call.number, answer)
    try turn()
  }

  /// Lets one of the calls of the provider go on.
  func answerProvider(healthily: Bool = false) throws(Violation) {
    let waiting = members.filter { !$0.isStopped && !$0.providers.isIdle }
    guard let member = waiting.randomElement(using: &random), let call = member.providers.calls.first else { return }
    let sent = member.sent[call.number]
    if healthily { return try deliver(sent?.answer ?? act(call, of: member), .answered, to: call, member) }
    if isNetworkDown {
      return try sent?.answer == nil
        ? deliver(.failure(.transient(.networkUnavailable)), .notActedOn, to: call, member)
        : deliver(.failure(.outcomeUnknown(.networkUnavailable)), .unknown, to: call, member)
    }
    let draw = Double.random(in: 0..<1, using: &random)
    if let answer = sent?.answer {
      return try draw < 0.8
        ? deliver(answer, .answered, to: call, member)
        : deliver(.failure(.outcomeUnknown(.timeout)), .unknown, to: call, member)
    }
    switch draw {
    case ..<0.7: try deliver(act(call, of: member), .answered, to: call, member)
    case ..<0.82:
      let answer = act(call, of: member)
      member.sent[call.number]?.answer = answer
    case ..<0.9: try deliver(.failure(.transient(.providerUnavailable)), .notActedOn, to: call, member)
    case ..<0.96:
      _ = act(call, of: member)
      try deliver(.failure(.outcomeUnknown(.timeout)), .unknown, to: call, member)
    default: try deliver(.failure(.outcomeUnknown(.timeout)), .unknown, to: call, member)
    }
  }

  /// Lets the provider do what was asked.
  func act(_ call: Wire<ProviderRequest, ProviderAnswer>.Call, of member: FleetMember) -> ProviderAnswer {
    let at = member.sent[call.number]?.at ?? world
    let sending = SimulatedServer.Sending(
      uptime: world, wall: member.clock.now + (at - world), jumps: 0, asked: at, boot: member.clock.boot,
      providerAhead: wall - member.clock.now)
    let answer = server.answer(call.question, sending, &random)
    for index in server.families.indices where !server.families[index].rotates { server.families[index].rotates = true }
    trace.note("provider: \(String("\(answer)".prefix(60)))")
    return answer
  }

  private func deliver(
    _ answer: ProviderAnswer, _ outcome: FleetLedger.Outcome,
    to call: Wire<ProviderRequest, ProviderAnswer>.Call, _ member: FleetMember
  ) throws(Violation) {
    trace.note("call \(call.number) of member \(member.number): \(outcome)")
    member.sent[call.number] = nil
    if let text = call.question.question.spentToken { ledger.end(text, call.number, of: member.number, outcome) }
    switch answer {
    case .tokens(let tokens): noteReceived(tokens, member)
    case .outcome(.authenticated(let session)): noteReceived(session.tokens, member)
    default: break
    }
    member.providers.answer(call.number, answer)
    try turn()
  }

  private func noteReceived(_ tokens: TokenSet, _ member: FleetMember) {
    if let text = tokens.accessToken.value.revealedString() { member.received.insert(text) }
  }

  /// Lets time pass, timer by timer; `healthily` answers everything at once.
  func pass(_ duration: Duration, healthily: Bool = false) throws(Violation) {
    trace.note("\(duration) pass")
    let end = world + duration
    while let next = nextMoment, next <= end {
      setWorld(next)
      try endLateCalls()
      for member in members where !member.isStopped { try callDue(member, healthily: healthily) }
    }
    setWorld(end)
  }

  private func setWorld(_ uptime: Duration) {
    world = max(world, uptime)
    for member in members { member.set(world) }
  }

  private var nextMoment: Duration? {
    var next: Duration?
    for member in members where !member.isStopped {
      let late = member.asked.values.lazy.map { $0.at + Self.patienceWithPlace }.min()
      let later = member.sent.values.lazy.map { $0.at + Self.patienceWithProvider }.min()
      for moment in [member.nextDeadline, late, later] {
        if let moment { next = min(next ?? moment, moment) }
      }
    }
    return next
  }

  /// Calls what is due of a member; the place mostly answers at once.
  func callDue(_ member: FleetMember, healthily: Bool = false) throws(Violation) {
    while !member.isStopped, let action = member.clock.takeDue() {
      action()
      try turn()
      if healthily { try rest() }
      while !member.records.isIdle, chance(0.95) { try answerRecord(of: member) }
    }
  }

  private func endLateCalls() throws(Violation) {
    for member in members where !member.isStopped {
      for call in member.records.calls {
        guard let asked = member.asked[call.number], asked.at + Self.patienceWithPlace <= world else { continue }
        if asked.answer == nil, chance(0.3) { _ = try act(call.question) }
        try deliver(.failed, to: call, member)
      }
      for call in member.providers.calls {
        guard let sent = member.sent[call.number], sent.at + Self.patienceWithProvider <= world else { continue }
        if sent.answer == nil, chance(0.5) { _ = act(call, of: member) }
        try deliver(.failure(.outcomeUnknown(.timeout)), .unknown, to: call, member)
      }
    }
  }

  /// Answers everything, until nothing is asked any more.
  func rest() throws(Violation) {
    for _ in 0..<20_000 {
      if members.contains(where: { !$0.records.isIdle }) {
        try answerRecord(healthily: true)
      } else if members.contains(where: { !$0.providers.isIdle }) {
        try answerProvider(healthily: true)
      } else {
        return
      }
    }
    throw Violation(.comesToRest, "the members ask without an end")
  }

  /// Ends all troubles: then all members agree, and a session that lives can be used.
  func settle() throws(Violation) {
    trace.note("all troubles end")
    (isPlaceDown, isNetworkDown) = (false, false)
    for member in members {
      (member.isCutOff, member.file.key) = (false, keys.storeKey)
      if member.isStopped { try goOn(member) }
    }
    try rest()
    try pass(.seconds(330), healthily: true)
    try checkAlarms()
    guard requests.isEmpty else { throw Violation(.answeredOnce, "requests are not answered") }
    for member in members { try ask(member, .token) }
    try rest()
    try pass(.seconds(40), healthily: true)
    guard requests.isEmpty else { throw Violation(.answeredOnce, "requests are not answered") }
    try checkSaved()
    try checkAgreement()
  }

  /// Nothing waits to be saved, and no end is still to come: a member for which one was would take up nothing any more.
  func checkSaved() throws(Violation) {
    for member in members {
      let isSaved = member.broker.assumeIsolated { broker in
        guard let machine = broker.slot(named: .default)?.machine else { return true }
        return machine.settledGeneration == machine.generation && machine.ending == nil && broker.journal.isSaved
      }
      guard isSaved else { throw Violation(.comesToRest, "member \(member.number) waits for a record") }
    }
  }

  /// The states of the session, as the members show them.
  var states: [Session.State?] {
    members.map { member in
      member.broker.assumeIsolated { try? $0.session(.default, for: .broker).session.state }
    }
  }

  private func checkAgreement() throws(Violation) {
    let states = states
    guard let token = ledger.newest.token, ledger.forgiven.isEmpty else { return }
    let family = server.families[token.family]
    guard family.isAlive, family.current == token.number, !server.hasExpired(token.family, at: world) else { return }
    for (member, state) in zip(members, states) {
      guard let state, state != .signedOut, state != .expired else {
        throw Violation(.recovers, "member \(member.number) is \(state.map { "\($0)" } ?? "?"), the session lives")
      }
    }
  }
}
