import JSON

/// What a client was told by a broker that is killed again and again, and what it may therefore find afterwards.
///
/// An answer and an event are both acknowledgements: events tell of what is durable. What was asked and neither
/// answered nor told may have happened or not; nothing else may.
struct CrashLedger {
  /// Where a session can stand.
  enum Standing: Equatable {
    case signedOut
    /// Living, with the token of this name; nil where the name is not known, so that any new one will do.
    case living(String?)
    /// Ended by itself.
    case ended
  }

  /// What a client can ask for.
  enum Request {
    case password, code, token, refresh, logout
  }

  /// How many changes were acknowledged, by what they are.
  private(set) var acknowledged = (logins: 0, refreshes: 0, logouts: 0)
  /// How many sessions the provider had changed without the broker's having been able to note it.
  private(set) var sessionsInDoubt = 0
  /// What must not be, in words.
  private(set) var complaints: [String] = []
  /// What is true at the moment: one of these.
  private(set) var possible: [Standing] = [.signedOut]
  /// Whether the provider may know more than the broker.
  ///
  /// It was asked for something, and the broker was killed before it could have told: a refresh token may be spent, a
  /// session revoked.
  private(set) var isInDoubt = false
  /// What was asked and is neither answered nor told.
  private(set) var underWay: Request?
  /// Tokens that were replaced: none of them may be given again.
  private var retired: Set<String> = []
  private var lastSequence: Int64 = 0

  /// The token that is current for sure.
  var knownToken: String? {
    guard possible.count == 1, case .living(let name) = possible[0] else { return nil }
    return name
  }

  /// Whether there is a session for sure.
  var isLiving: Bool { possible.allSatisfy { if case .living = $0 { true } else { false } } }

  mutating func complain(_ what: String) { complaints.append(what) }

  // MARK: What is said

  mutating func ask(_ request: Request) { underWay = request }

  /// Takes in the answer to what is under way.
  mutating func hear(answer: JSONNode) throws {
    guard let request = underWay else { return }
    underWay = nil
    guard let result = answer["result"] else { return try hear(refusal: answer, of: request) }
    switch request {
    case .password: break
    case .code: begin(nil)
    case .token:
      let name = try result.required("tokenId").string()
      if let knownToken, knownToken != name { complain("another token than before") }
      renew(name)
    case .refresh:
      let name = try result.required("tokenId").string()
      renew(name)
      isInDoubt = false
    case .logout:
      acknowledged.logouts += 1
      settle(.signedOut)
    }
  }

  private mutating func hear(refusal answer: JSONNode, of request: Request) throws {
    let kind = try answer.required("error").required("data").required("kind").string()
    let ends = ["sessionExpired", "loginRequired", "refreshOutcomeUnknown"].contains(kind)
    guard isInDoubt, ends, request == .refresh || request == .token else {
      return complain("\(request) was refused with \(kind)")
    }
    // The end is told to the caller at once, and to everybody when it is durable.
    sessionsInDoubt += 1
    if !possible.contains(.ended) { possible.append(.ended) }
  }

  /// Takes in an event.
  mutating func hear(event: JSONNode) throws {
    let params = try event.required("params")
    let sequence = try params.required("sequence").integer()
    if sequence <= lastSequence { complain("sequence \(sequence) after \(lastSequence)") }
    lastSequence = max(lastSequence, sequence)
    switch try params.required("event").string() {
    case "login" where underWay == .code:
      underWay = nil
      begin(nil)
    case "tokenRefreshed":
      let name = try params.required("data").required("tokenId").string()
      // The answer may have come before, and the next request may be under way.
      guard name != knownToken else { return }
      renew(name)
      isInDoubt = false
      if underWay == .refresh { underWay = nil }
    case "logout":
      acknowledged.logouts += underWay == .logout ? 1 : 0
      if underWay == .logout { underWay = nil }
      settle(.signedOut)
    case "sessionExpired":
      if !isInDoubt { complain("the session ended by itself") }
      settle(.ended)
    case "securityAlert":
      let kind = try params.required("data").required("kind").string()
      if !isInDoubt || kind != "refreshTokenReuse" { complain("alert \(kind)") }
    default: break
    }
  }

  /// Takes in the sequence that a new subscription begins with.
  mutating func hear(sequence: Int64) {
    if sequence < lastSequence { complain("the sequence went back from \(lastSequence) to \(sequence)") }
  }

  private mutating func begin(_ name: String?) {
    acknowledged.logins += 1
    if let knownToken { retired.insert(knownToken) }
    possible = [.living(name)]
    isInDoubt = false
  }

  private mutating func renew(_ name: String) {
    if retired.contains(name) { complain("a token came back that was replaced") }
    if let knownToken, knownToken != name {
      retired.insert(knownToken)
      acknowledged.refreshes += 1
    }
    possible = [.living(name)]
  }

  private mutating func settle(_ standing: Standing) {
    if let knownToken { retired.insert(knownToken) }
    possible = [standing]
    isInDoubt = false
  }

  // MARK: The kill and after

  /// The broker was killed, and everything that it had said was heard.
  mutating func endOfLife() {
    switch underWay {
    case .code: possible.append(.living(nil))
    case .refresh:
      possible += [.living(nil), .ended]
      isInDoubt = true
    case .logout:
      possible.append(.signedOut)
      isInDoubt = true
    case .password, .token, nil: break
    }
    underWay = nil
  }

  /// Compares what a new broker says.
  mutating func find(_ standing: Standing) {
    let fits = possible.contains { candidate in
      switch (candidate, standing) {
      case (.living(nil), .living(let name?)): !retired.contains(name)
      case (.signedOut, .ended), (.ended, .signedOut): false
      default: candidate == standing
      }
    }
    if !fits { complain("found \(standing), where only \(possible) can be\(isInDoubt ? " (in doubt)" : "")") }
    if case .living(let name?) = standing, retired.contains(name) { complain("an older token is back") }
    if case .living(let name?) = standing {
      for case .living(let other?) in possible where other != name {
        // The new token is there in place of the old one: nothing is in doubt.
        retired.insert(other)
        isInDoubt = false
      }
    }
    if standing == .signedOut || standing == .ended { isInDoubt = false }
    possible = [standing]
  }
}
