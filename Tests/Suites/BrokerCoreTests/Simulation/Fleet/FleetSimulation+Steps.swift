import BrokerCore
import BrokerProtocol
import Fleet
import SecretMemory
import TestSupport

/// What can be done in one step.
extension FleetSimulation {
  private enum Step: CaseIterable {
    case record, provider, token, forced, rush, report, login, logout, moment, minute, long
    case die, stop, goOn, cut, place, network, failOver, telling, rekey, keyFile

    /// How often, in relation to the others.
    var weight: Int {
      switch self {
      case .record: 300
      case .provider: 160
      case .token, .moment: 100
      case .forced: 50
      case .login: 40
      case .rush: 30
      case .goOn, .telling, .rekey, .keyFile: 12
      case .failOver: 20
      case .minute: 10
      case .report, .cut: 6
      case .die, .stop: 5
      case .place, .network: 4
      case .long: 2
      case .logout: 1
      }
    }
  }

  private static let total = Step.allCases.reduce(0) { $0 + $1.weight }

  private func draw() -> Step {
    var draw = Int.random(in: 0..<Self.total, using: &random)
    for step in Step.allCases {
      draw -= step.weight
      if draw < 0 { return step }
    }
    return .moment
  }

  private func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

  private func seconds(_ most: Int) -> Duration { .milliseconds(Int.random(in: 0...most * 1000, using: &random)) }

  /// Does what is drawn.
  func takeStep() throws(Violation) {
    let step = draw()
    let member = members[Int.random(in: members.indices, using: &random)]
    switch step {
    case .record: for _ in 0..<members.count { try answerRecord() }
    case .provider: try answerProvider()
    case .token, .forced, .report, .login, .logout:
      guard !member.isStopped else { return }
      try takeRequest(step, member)
    case .rush: try rush()
    case .moment: try pass(seconds(3))
    case .minute: try pass(seconds(60))
    case .long: try pass(seconds(members.count > 8 ? 100 : 600))
    case .die: try die(member)
    case .stop:
      guard !member.isStopped else { return }
      trace.note("member \(member.number) is stopped")
      counts.stops += 1
      member.isStopped = true
    case .goOn: try goOn(members.filter(\.isStopped).randomElement(using: &random))
    case .cut: member.isCutOff = !member.isCutOff && chance(0.4)
    case .place: isPlaceDown = !isPlaceDown && chance(0.4)
    case .network: isNetworkDown = !isNetworkDown && chance(0.4)
    case .failOver: failOver()
    case .telling:
      turnTelling(of: member)
      try turn()
    case .rekey: try rekey()
    case .keyFile: member.file.key = keys.storeKey
    }
    try checkAlarms()
  }

  /// Has all members that run want a token at the same instant, a new one or one that lives.
  private func rush() throws(Violation) {
    let isForced = chance(0.5)
    for member in members.shuffled(using: &random) where !member.isStopped {
      try ask(member, .token, isForced: isForced)
    }
  }

  private func takeRequest(_ step: Step, _ member: FleetMember) throws(Violation) {
    switch step {
    case .token: try ask(member, .token)
    case .forced: try ask(member, .token, isForced: true)
    case .report: try ask(member, .report)
    case .login:
      guard ledger.newest.token == nil || chance(0.05) else { return }
      try ask(member, .login)
    default: try ask(member, .logout)
    }
  }

  /// Has a member take up a request of a client.
  func ask(_ member: FleetMember, _ kind: Request.Kind, isForced: Bool = false) throws(Violation) {
    let refused = kind == .report ? ledger.durable.max() : nil
    guard kind != .report || refused != nil else { return }
    requestCount += 1
    let knowsNewest = member.known?.generation == ledger.newest.generation
    // An equal login that is under way is this one's as well.
    let equal = requests.values.filter { $0.member === member && $0.kind == .login && kind == .login }
    requests[requestCount] = Request(
      member: member, kind: kind, families: equal.map(\.families).min() ?? server.families.count,
      family: knowsNewest ? ledger.newest.token?.family : nil)
    trace.note("request \(requestCount): \(kind.rawValue)\(isForced ? " forced" : "") of member \(member.number)")
    let id = CallerID(UInt64(requestCount))
    let timeout = seconds(30)
    if let refused { member.refused.insert(refused) }
    let (broker, client) = (member.broker, ClientID(UInt64(member.number)))
    broker.assumeIsolated { broker in
      switch kind {
      case .token:
        let params = GetAccessToken.Params(profile: .default, timeout: timeout, forceRefresh: isForced)
        let method: Broker.Method<Secret> = { broker, caller throws(BrokerError) in
          try broker.accessToken(params, caller)
        }
        broker.receive(Caller(id, as: .broker), .throughout, method)
      case .report:
        let params = ReportRejected.Params(
          profile: .default, accessToken: ScriptedProvider.secret(refused ?? ""), status: 401)
        let method: Broker.Method<Secret> = { broker, caller throws(BrokerError) in
          try broker.reportRejected(params, caller)
        }
        broker.receive(Caller(id, as: .broker), .throughout, method)
      case .login:
        let params = Login.Params(
          profile: .default, email: "a@b.example", password: ScriptedProvider.secret("right"))
        let method: Broker.Method<LoginResult> = { broker, caller throws(BrokerError) in
          try broker.login(params, caller)
        }
        broker.receive(Caller(id, as: .broker), .throughout, method)
      case .logout:
        let params = Logout.Params(profile: .default, all: false)
        let method: Broker.Method<Logout.Result> = { broker, caller throws(BrokerError) in
          try broker.logout(params, caller)
        }
        broker.receive(Caller(id, as: .broker), .atFirst, method)
      case .subscribe:
        let params = Subscribe.Params(profiles: nil, since: nil)
        broker.subscribe(params, client: client, Caller(id, as: .broker))
      }
    }
    try turn()
  }

  /// Kills a member, and starts another in its place.
  private func die(_ member: FleetMember) throws(Violation) {
    trace.note("member \(member.number) dies")
    counts.deaths += 1
    members.removeAll { $0 === member }
    // What it has sent may arrive all the same.
    for call in member.records.calls where member.asked[call.number]?.answer == nil && chance(0.5) {
      try act(call.question)
    }
    for call in member.providers.calls {
      if member.sent[call.number]?.answer == nil, chance(0.5) { _ = act(call, of: member) }
      if let text = call.question.question.spentToken { ledger.end(text, call.number, of: member.number, .unknown) }
    }
    member.clock.stop()
    requests = requests.filter { $0.value.member !== member }
    member.records.cut(.failed)
    member.providers.cut(.failure(.transient(.networkUnavailable)))
    for _ in 0..<100 where executor.turn() {}
    try join()
  }

  /// Lets a member go on that was stopped.
  func goOn(_ member: FleetMember?) throws(Violation) {
    guard let member else { return }
    trace.note("member \(member.number) goes on")
    member.isStopped = false
    member.set(world)
    if chance(0.5) { member.clock.tellSet() }
    try turn()
    try callDue(member)
  }

  private func failOver() {
    guard plan.failsOver, ledger.newest.generation > 0, chance(0.6) else { return }
    goBack(by: Int.random(in: 1...3, using: &random))
  }

  /// Lets the place lose its last writes, where it has as many.
  func goBack(by count: Int) {
    let name = ProfileName.default.description
    guard place.failOver(losing: count) else { return }
    trace.note("the place goes back to version \(place.rows[name]?.version ?? 0)")
    counts.failovers += 1
    // It ends the connection over which the rows were read.
    keys.pending = nil
    ledger.forgiven.formUnion(server.families.indices)
    ledger.newest = (0, nil)
    ledger.loggedOut = [:]
  }
}
