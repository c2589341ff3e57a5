import BrokerCore
import BrokerProtocol
import SecretMemory

/// Another broker that has the session of the default profile: it keeps to the rules of what they share, and may die.
enum OtherBroker {
  /// Nothing of it is under way.
  case resting
  /// It has the lease, and has sent nothing.
  case leasing(SessionRecord)
  /// It has spent the refresh token, under a lease until then, and not saved what came.
  case sent(SessionRecord, String, TokenSet, SimulatedServer.Sending, until: Duration)

  /// Its number: no life of the broker has it.
  static let member = -1
}

extension Simulation {
  /// Lets the other broker go on, or die.
  func moveOther() throws(Violation) {
    guard plan.isShared else { return }
    switch other {
    case .resting: lease()
    case .leasing(let record):
      if chance(0.1) { return dieOther("before it sends") }
      try spendElsewhere(record)
    case .sent(let record, let text, let tokens, let sending, _):
      if chance(0.15) { return dieOther("before it saves") }
      try saveElsewhere(record, text, tokens, sending)
    }
  }

  /// Brings what it has begun to an end.
  func endOther() throws(Violation) {
    if case .sent(let record, let text, let tokens, let sending, _) = other {
      return try saveElsewhere(record, text, tokens, sending)
    }
    guard case .leasing = other else { return }
    try? sharedDisk.commit([.closeIntent(.default)], by: OtherBroker.member, at: life.clock.uptime)
    other = .resting
  }

  /// Lets the broker look at what the other one has written.
  func poll() throws(Violation) {
    life.broker.assumeIsolated { $0.readSharedRecords() }
    try turn()
  }

  /// Whether the broker may await the other one, and serve the living token meanwhile.
  func mayAwaitOther(_ profile: ProfileName?) -> Bool {
    profile == .default && plan.isShared && life.clock.uptime <= sharedDisk.held(.default).end + .seconds(2)
  }

  /// Once its lease is over nobody waits for the other broker.
  func noteLateOther(_ text: String) {
    guard case .sent(_, text, _, _, let end) = other, end <= life.clock.uptime else { return }
    counts.takenOver += 1
    spending.end(Self.callElsewhere, .unknown)
  }

  private static let callElsewhere = -1

  private func dieOther(_ when: String) {
    trace.note("the other broker dies \(when)")
    spending.end(Self.callElsewhere, .unknown)
    counts.takenOver += 1
    other = .resting
  }

  private func lease() {
    guard sharedDisk.intent(of: .default) == nil, let record = sharedDisk.record(of: .default),
      case .living(let session) = record.contents, session.tokens.refreshToken != nil
    else { return }
    let intent = RefreshIntent(profile: .default, generation: record.generation, startedAt: life.clock.now)
    guard
      (try? sharedDisk.commit([.openIntent(intent)], by: OtherBroker.member, at: life.clock.uptime)) != nil
    else { return }
    trace.note("the other broker has the lease of \(record.generation)")
    other = .leasing(record)
  }

  private func spendElsewhere(_ record: SessionRecord) throws(Violation) {
    guard let intent = sharedDisk.intent(of: .default), intent.member == OtherBroker.member,
      life.clock.uptime + Self.patience < intent.end, case .living(let session) = record.contents,
      let text = session.tokens.refreshToken?.value.revealedString(), let token = SimulatedServer.Token(text)
    else { return dieOther("as its lease is over") }
    // One that comes late has saved the next token while the broker has spent this one's predecessor once more.
    for call in life.providers.calls where call.question.question.spentToken == text {
      throw Violation(.spentOnceOverAll, "\(text) is spent elsewhere while call \(call.number) is under way")
    }
    try noteSpending(token, text, call: Self.callElsewhere, life: OtherBroker.member)
    let request = ProviderRequest(profile: .default, issuer: record.binding.issuer, question: .refresh(text))
    let answer = server.answer(request, sending, &random)
    trace.note("the other broker spends \(text)")
    guard case .tokens(let tokens) = answer else {
      return try endElsewhere(record, token)
    }
    other = .sent(record, text, tokens, sending, until: intent.end)
  }

  /// Writes down that its provider has refused the refresh token, which ends the session of all.
  private func endElsewhere(_ record: SessionRecord, _ token: SimulatedServer.Token) throws(Violation) {
    spending.end(Self.callElsewhere, .answered)
    other = .resting
    let hasEndedByReplay = server.families[token.family].hasEndedByReplay
    var new = record
    new.generation += 1
    new.contents = .ended(hasEndedByReplay ? .refreshOutcomeUnknown : .refreshRejected, at: life.clock.now)
    guard (try? sharedDisk.commit([.record(new)], by: OtherBroker.member, at: life.clock.uptime)) != nil else { return }
    trace.note("the other broker ends the session with \(new.generation)")
    try noteCommitted([.record(new)])
  }

  private func saveElsewhere(
    _ record: SessionRecord, _ text: String, _ tokens: TokenSet, _ sending: SimulatedServer.Sending
  ) throws(Violation) {
    other = .resting
    guard case .living(var session) = record.contents else { return }
    let old = session.tokens
    session.tokens = tokens
    session.tokens.refreshToken = tokens.refreshToken ?? old.refreshToken
    session.tokens.refreshTokenExpiresAt =
      tokens.refreshToken == nil ? old.refreshTokenExpiresAt : tokens.refreshTokenExpiresAt
    session.issuedAt = sending.wall
    session.refreshTokenIssuedAt = sending.wall
    session.clock = IssueClock(boot: sending.boot, bootedAt: sending.wall + (.zero - sending.uptime))
    session.lastRefreshAt = sending.wall
    var new = record
    new.generation += 1
    new.contents = .living(session)
    spending.end(Self.callElsewhere, .answered)
    guard (try? sharedDisk.commit([.record(new)], by: OtherBroker.member, at: life.clock.uptime)) != nil else {
      return trace.note("the other broker comes too late")
    }
    if tokens.refreshToken == nil { spending.forget(Self.callElsewhere) }
    trace.note("the other broker saves \(new.generation)")
    counts.elsewhere += 1
    counts.held = sharedDisk.held(.default).count
    try noteCommitted([.record(new)])
  }
}
