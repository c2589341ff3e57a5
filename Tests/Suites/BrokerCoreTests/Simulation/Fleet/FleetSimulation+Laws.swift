import BrokerProtocol
import Records
import SecretMemory

@testable import BrokerCore
@testable import Fleet

/// What must hold.
extension FleetSimulation {
  /// The clocks of members may differ by this from the place's without being corrected, and providers count from their answer.
  private static let tolerance = Duration.seconds(26)
  /// What must be left of a lease when its token is sent: the longest refresh.
  private static let longestFlight = Duration.seconds(25)

  /// Notes that a refresh token is sent.
  func noteSpending(_ text: String, _ call: Int, _ member: FleetMember) throws(Violation) {
    counts.refreshes += 1
    guard let token = SimulatedServer.Token(text) else { return }
    let earlier = ledger.sendings[text, default: []].filter { $0.outcome != .notActedOn }
    ledger.sendings[text, default: []].append(.init(member: member.number, call: call, at: world))
    guard !member.mayNotSpend else {
      throw Violation(.generationGrows, "\(text) is sent, and the place has gone back")
    }
    guard let last = earlier.last, !ledger.forgiven.contains(token.family) else { return }
    counts.repeats += 1
    for other in earlier where other.outcome == .underWay {
      guard world - other.at >= Self.longestFlight else {
        throw Violation(.spentOnceOverAll, "\(text) is sent by \(member.number) while \(other.member) spends it")
      }
      counts.late += 1
    }
    if let newest = ledger.newest.token, newest.family == token.family, newest.number > token.number,
      world - last.at < Self.longestFlight
    {
      throw Violation(.spentOnce, "\(text) is sent although its successor was saved")
    }
    let isReplay = earlier.count == 1 && last.at + server.families[token.family].grace > world
    guard isReplay || hasAccessEnded(text) || isRefused(text, member) else {
      let own = server.ownTokens[text] ?? "its access token"
      throw Violation(
        .spentOnce,
        "\(text) is sent once more by \(member.number) while \(own) lives; refused: \(member.refused.sorted())")
    }
  }

  /// Whether nothing can be lost any more by sending a refresh token once more.
  private func hasAccessEnded(_ text: String) -> Bool {
    guard let own = server.ownTokens[text], let end = server.access[own]?.endsAt else { return true }
    return end - Self.tolerance <= world
  }

  /// Whether a member was told that an access token is refused that came with a refresh token: a repeated answer brings another.
  private func isRefused(_ text: String, _ member: FleetMember) -> Bool {
    member.refused.contains { server.access[$0].map { $0.refreshToken == text && $0.target == nil } ?? false }
  }

  /// Takes in the answer to a request.
  func noteAnswered(_ number: Int, _ answer: Inbox.Answer) throws(Violation) {
    guard let request = requests.removeValue(forKey: number) else {
      throw Violation(.answeredOnce, "request \(number) is answered twice")
    }
    let place = "request \(number) \(request.kind.rawValue) of member \(request.member.number)"
    switch answer {
    case .token(let json):
      guard let text = Self.accessToken(in: json) else { throw Violation(.tokenGood, "\(place): \(json)") }
      trace.note("\(place): \(text)")
      try check(text, for: request.member)
    case .login(.authenticated):
      trace.note("\(place): authenticated")
      counts.logins += 1
      let isThere = ledger.families.contains { $0 >= request.families }
      guard isThere || !ledger.forgiven.isEmpty else {
        throw Violation(.durableFirst, "\(place) is answered, and no session was written")
      }
    case .logout:
      trace.note("\(place): done")
      counts.logouts += 1
      guard let family = request.family, let token = ledger.newest.token, token.family == family,
        !ledger.forgiven.contains(family)
      else { return }
      throw Violation(.logoutKept, "\(place) is answered, and session \(family) is still written as living")
    case .error(let error): trace.note("\(place): \(error.kind)")
    default: break
    }
  }

  /// The token of an answer.
  static func accessToken(in json: String) -> String? {
    json.split(separator: "\"").first { $0.first == "A" && SimulatedServer.Token($0) != nil }.map(String.init)
  }

  private func check(_ text: String, for member: FleetMember) throws(Violation) {
    counts.tokens += 1
    guard let token = SimulatedServer.Token(text), let access = server.access[text] else {
      throw Violation(.tokenGood, "\(text) is no token of the provider's")
    }
    guard ledger.durable.contains(text) || member.received.contains(text) else {
      throw Violation(.durableFirst, "\(text) is given before it is saved")
    }
    if let end = access.endsAt, end + Self.tolerance < world { throw Violation(.tokenGood, "\(text) has ended") }
    guard let end = ledger.loggedOut[token.family], !ledger.forgiven.contains(token.family) else { return }
    guard member.viewedAt <= end else {
      throw Violation(.logoutKept, "\(text) is given by \(member.number), which has read of the logout")
    }
  }

  /// Takes in what the place has after a write.
  func noteWritten(_ name: String) throws(Violation) {
    guard name != FleetKey.rowName, let row = place.rows[name] else { return }
    guard let entry = try? entry(of: row) else {
      throw Violation(.durableFirst, "what is written does not open")
    }
    guard entry.generation >= ledger.newest.generation else {
      throw Violation(.generationGrows, "\(entry.generation) after \(ledger.newest.generation)")
    }
    guard entry.generation > ledger.newest.generation else { return }
    let old = ledger.newest.token
    guard let contents = try? SessionContentsCoding.decode(entry.contents, entry.sealed) else { return }
    trace.note("record \(entry.generation) \(Self.describe(contents))")
    guard case .living(let session) = contents,
      let token = (session.tokens.refreshToken?.value.revealedString()).flatMap({ SimulatedServer.Token($0) })
    else {
      ledger.newest = (entry.generation, nil)
      guard let old else { return }
      switch contents {
      case .signedOut, .ended(.idleTimeout, _): ledger.loggedOut[old.family] = world
      default: try noteEnd(old)
      }
      return
    }
    if let old, old.family == token.family, token.number < old.number {
      throw Violation(.generationGrows, "\(token) after \(old)")
    }
    guard ledger.loggedOut[token.family] == nil else {
      throw Violation(.logoutKept, "session \(token.family) is written as living after its logout")
    }
    ledger.newest = (entry.generation, token)
    ledger.families.insert(token.family)
    if let text = session.tokens.accessToken.value.revealedString() { ledger.durable.insert(text) }
  }

  private func noteEnd(_ token: SimulatedServer.Token) throws(Violation) {
    let family = server.families[token.family]
    guard !family.isAlive else {
      throw Violation(.sessionKept, "session \(token.family) has ended, and lives at the provider")
    }
    if family.hasEndedByReplay { counts.lostForGood += 1 }
  }

  private static func describe(_ contents: SessionRecord.Contents) -> String {
    guard case .living(let session) = contents else { return "\(contents)" }
    return "living \(session.tokens.refreshToken?.value.revealedString() ?? "")"
  }

  /// Whether a member writes a record or an intent: an intent is closed beside that as well, where its write had no answer.
  func isChange(_ question: RecordQuestion, of member: FleetMember) -> Bool {
    guard case .write(let changes, _) = question, let change = changes.last,
      let entry = try? entry(of: SharedRow(version: change.new, bytes: change.bytes))
    else { return false }
    return entry.flight != nil || entry.generation != member.known?.generation
  }

  private func entry(of row: SharedRow) throws -> FleetEntry? {
    try keys.coding(of: row)?.decode(row, of: .default, ProviderBinding(type: "simulated", issuer: Self.issuer))
  }

  /// What a row shows of the session.
  private func known(_ row: SharedRow) -> FleetMember.Known? {
    guard let entry = try? entry(of: row) else { return nil }
    let content = entry.contents.revealedString() ?? ""
    return FleetMember.Known(
      version: row.version, generation: entry.generation, content: content)
  }

  /// Takes in what a member is shown: what is older than what it knows raises the alarm.
  func noteShown(_ answer: RecordAnswer, to question: RecordQuestion, _ member: FleetMember) {
    if case .rows(let rows) = answer { keys.show(rows, to: member) }
    switch (question, answer) {
    case (.news, .rows(let rows)):
      guard keys.canOpen(rows, member) else { return }
      guard let row = rows.rows[ProfileName.default.description] else {
        let isThere = question.known != .some(nil) && rows.gone.isEmpty
        noteBehind(member.known != nil && !isThere, member)
        return
      }
      member.shown[row.version] = row.bytes
      guard let found = known(row) else { return }
      let isBehind = member.known?.isAhead(of: found) ?? false
      noteBehind(isBehind, member)
      if !isBehind { member.known = found }
    case (.write(let changes, _), .written(true)):
      // Another member may have written since: then the next view is newer.
      if let row = place.rows[ProfileName.default.description], row.version == changes.last?.new {
        member.known = known(row)
        member.mayNotSpend = false
      }
    default: break
    }
  }

  /// A member that asks for what is another version than it knows knows all of the row that has that version: a whole reading
  /// would find nothing more.
  func checkKnown(_ question: RecordQuestion, _ member: FleetMember) throws(Violation) {
    guard case .some(.some(let version)) = question.known, let row = place.rows[ProfileName.default.description],
      row.version == version, let entry = try? entry(of: row)
    else { return }
    counts.known += 1
    let generation = member.broker.assumeIsolated { $0.slot(named: .default)?.machine.restingGeneration ?? 0 }
    guard member.shown[version] == row.bytes, entry.flight == nil, generation >= entry.generation else {
      throw Violation(.recovers, "member \(member.number) does not ask for version \(version), and has not taken it up")
    }
  }

  private func noteBehind(_ isBehind: Bool, _ member: FleetMember) {
    if isBehind, !member.isBehind {
      trace.note("member \(member.number) sees that the place has gone back")
      member.alarms.wanted += 1
    }
    (member.isBehind, member.mayNotSpend) = (isBehind, isBehind)
  }

  /// Whoever sees that the place has gone back raises the alarm at once, and nobody else does.
  func checkAlarms() throws(Violation) {
    for member in members where member.alarms.raised > member.alarms.wanted {
      throw Violation(.generationGrows, "member \(member.number) raises an alarm, and nothing has gone back")
    }
    for member in members where member.alarms.raised < member.alarms.wanted {
      throw Violation(.generationGrows, "member \(member.number) raises no alarm, and the place has gone back")
    }
  }
}
