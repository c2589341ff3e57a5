/// What must never be, and was.
struct Violation: Error, CustomStringConvertible {
  /// The rules that hold after each step.
  enum Rule: String, CaseIterable {
    case oneFlight = "at most one refresh of a session is under way"
    case spentOnce = "no refresh token is sent twice while anything could be lost by it"
    case intended = "no refresh token that rotates is sent without an open intent"
    case spentOnceOverAll = "no refresh token is on its way of two brokers"
    case rightAddress = "no token is sent to another address"
    case generationGrows = "generations, and tokens of a session, never go back in the store"
    case sessionKept = "no session is lost but by a logout, a refusal or an end that nobody can help"
    case reasonTold = "a session that ended by a lost reply says so, and raises no alarm"
    case logoutKept = "nothing comes back after a logout"
    case loginKept = "nothing comes back of a login that was refused"
    case durableFirst = "nothing is told or shown before it is durable"
    case sequencesGrow = "sequences strictly increase, over restarts too"
    case eventsComplete = "a subscriber misses nothing, and gets nothing twice"
    case stateAgrees = "a subscriber's state is the broker's"
    case answeredOnce = "each request is answered once, and in its time"
    case tokenGood = "a token that is given is good"
    case targetKept = "a token is for what was asked for, and of the present session"
    case errorFits = "an error is one that the caller can expect"
    case lockHolds = "a locked vault gives nothing"
    case callersServed = "a caller's request is sent within seconds, and at once where the provider is known to be well"
    case flightKept = "an end in order waits for what was sent and comes once, and keeps it"
    case comesToRest = "nothing is left over when everything has been answered"
    case keptAlive = "a session that is in use does not run out while its provider can be reached"
    case paced = "no call refreshes before a fifth of the token's life is over"
    case oneTruth = "an answer says offline where the state does"
    case recovers = "a session that lives can be used again when the troubles are over"
  }

  /// The rule.
  let rule: Rule
  /// What was.
  let detail: String
  /// In which step.
  var step = 0

  init(_ rule: Rule, _ detail: String) {
    (self.rule, self.detail) = (rule, detail)
  }

  var description: String { "step \(step): \(rule.rawValue): \(detail)" }
}
