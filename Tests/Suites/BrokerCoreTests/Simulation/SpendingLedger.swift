import BrokerCore
import BrokerProtocol

/// Which refresh tokens were sent, and what the broker knows of how that ended.
struct SpendingLedger {
  /// What the broker knows of one sending.
  enum Outcome: Equatable {
    /// It waits for the answer.
    case underWay
    /// The provider has certainly not acted on it.
    case notActedOn
    /// It has the answer.
    case answered
    /// Nothing: the reply was lost, or the broker.
    case unknown
  }

  private struct Sending {
    let call: Int
    let life: Int
    let uptime: Duration
    var outcome = Outcome.underWay
  }

  private var sendings: [String: [Sending]] = [:]
  private var tokenOfCall: [Int: String] = [:]

  /// Notes that a token is sent; `mayRepeat` says whether nothing can be lost by it any more, `hasDurableSuccessor`
  /// whether the store has ever had the token after it.
  mutating func send(
    _ token: String, call: Int, life: Int, at uptime: Duration, grace: Duration, mayRepeat: Bool,
    hasDurableSuccessor: Bool, rotates: Bool
  ) throws(Violation) {
    let earlier = sendings[token, default: []]
    if earlier.contains(where: { $0.outcome == .underWay && $0.life == life }) {
      throw Violation(.oneFlight, "\(token) is sent while it is under way already")
    }
    if rotates {
      if earlier.contains(where: { $0.outcome == .underWay && $0.life != life }) {
        throw Violation(.spentOnceOverAll, "\(token) is sent while another broker spends it")
      }
      if hasDurableSuccessor { throw Violation(.spentOnce, "\(token) is sent although its successor was saved") }
      if earlier.contains(where: { $0.outcome == .answered && $0.life == life }) {
        throw Violation(.spentOnce, "\(token) is sent although it was answered")
      }
      let unknown = earlier.filter { $0.outcome == .unknown || $0.outcome == .answered }
      let isReplay = unknown.count == 1 && unknown[0].uptime + grace > uptime
      if !mayRepeat, !isReplay, !unknown.isEmpty {
        throw Violation(.spentOnce, "\(token) is sent once more while its access token lives")
      }
    }
    sendings[token, default: []].append(Sending(call: call, life: life, uptime: uptime))
    tokenOfCall[call] = token
  }

  /// Whether a token was ever sent.
  func hasSent(_ token: String) -> Bool { sendings[token] != nil }

  /// How many tokens were sent within the window of the breaker.
  func recent(at uptime: Duration) -> Int {
    sendings.values.joined().count { uptime - $0.uptime <= RefreshBudget.window }
  }

  /// Notes that a token is as good after an answer as before: what became of it earlier is of no account.
  mutating func forget(_ call: Int) {
    if let token = tokenOfCall[call] { sendings[token]?.removeAll { $0.outcome != .underWay } }
  }

  /// Whether it is not known what became of a token that was sent.
  func isUnknown(_ token: String) -> Bool { sendings[token]?.contains { $0.outcome == .unknown } ?? false }

  /// Notes what the broker learns of a sending.
  mutating func end(_ call: Int, _ outcome: Outcome) {
    guard let token = tokenOfCall[call], let index = sendings[token]?.firstIndex(where: { $0.call == call }) else {
      return
    }
    sendings[token]?[index].outcome = outcome
  }
}
