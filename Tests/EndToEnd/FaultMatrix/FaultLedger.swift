import BrokerProtocol
import JSON

/// What a backend knows of the refresh tokens that it was sent, and how much was risked by sending them.
struct FaultLedger {
  /// One arrival of a refresh token.
  struct Use {
    /// Its ordinal name: `R<family>.<generation>`.
    let token: String
    /// What the backend made of it.
    let outcome: String
    /// The status of the answer, as far as one was begun.
    let status: Int64?
    /// How much of an answer left the backend.
    let delivery: String?
    /// When it was acted on, by the wall clock.
    let time: Timestamp
    /// The same, in seconds of a clock that is never set.
    let moment: Double

    /// Whether the sender knows what became of the token: the whole of an answer left.
    var isAnswered: Bool { ["written", "altered", "replaced"].contains(delivery) }
    /// Whether the backend looked at the token.
    var isProcessed: Bool { outcome != "notProcessed" }
  }

  /// The end of one session at the backend.
  struct Ending {
    /// The number of its family: each login begins one, in order.
    let family: Int64
    /// Why it ended.
    let reason: String
    /// The newest family at that time.
    let newest: Int64

    /// Whether the broker has told the backend to end a session in whose place a login had put another one.
    var isOfReplaced: Bool { reason == "logout" && family < newest }
  }

  /// When sending a token again is no risk, or one that was accepted.
  enum Allowance {
    /// Only when nothing is left to lose.
    case none
    /// A backend that never rotates answers each time.
    case always
    /// A backend that answers the last token once more, for a while.
    case onceInGrace
  }

  /// All arrivals, in order.
  let uses: [Use]
  /// The number of the last entry.
  let sequence: Int64
  /// When each request to refresh was read; seconds of a clock that is never set.
  let requests: [Double]
  /// The sessions that ended at the backend, in order.
  let endings: [Ending]
  /// How many sessions were begun.
  let logins: Int64

  /// What the backend knows now.
  init(_ backend: RESTBackend) throws {
    var (uses, endings, requests): ([Use], [Ending], [Double]) = ([], [], [])
    var logins: Int64 = 0
    let answer = try backend.ask("/ledger")
    sequence = try answer.required("sequence").integer()
    for entry in try answer.required("entries").elements() {
      switch try entry.required("event").string() {
      case "request" where try entry.required("endpoint").string() == "refresh":
        requests.append(try entry.required("monotonic").number())
      case "login": logins += 1
      case "familyEnded":
        endings.append(
          Ending(
            family: try entry.required("family").integer(), reason: try entry.required("reason").string(),
            newest: logins))
      case "refresh": uses.append(try Self.use(entry))
      case "serverBug": throw TestFailure("the backend has a bug: \(String(decoding: entry.text, as: UTF8.self))")
      default: break
      }
    }
    (self.uses, self.endings, self.requests, self.logins) = (uses, endings, requests, logins)
  }

  private static func use(_ entry: JSONNode) throws -> Use {
    Use(
      token: try entry.optional("token", String.init(from:)) ?? "unknown",
      outcome: try entry.required("outcome").string(), status: try entry.optional("status", integer),
      delivery: try entry.optional("delivery", String.init(from:)), time: try Timestamp(from: entry.required("time")),
      moment: try entry.required("monotonic").number())
  }

  private static func integer(_ node: JSONNode) throws(JSONMismatch) -> Int64 { try node.integer() }

  /// The arrivals in words, equal ones in a row once.
  var words: [String] {
    var words: [String] = []
    for use in uses {
      let fate = use.isProcessed ? use.outcome : "not acted on" + (use.status.map { ", \($0)" } ?? "")
      let word = "\(use.token) \(fate)"
      if words.last != word { words.append(word) }
    }
    return words
  }

  /// How often the token that was sent most was sent while something could be lost by it: more than once is wrong.
  ///
  /// A token that was answered without being looked at has not been sent at all. The session's first one is worth
  /// nothing any more when the access token that came with it has ended: at `end`.
  func risk(_ allowance: Allowance, end: Timestamp?) -> Int {
    Dictionary(grouping: uses, by: \.token).values.map { uses in
      var (risked, replays) = (0, 0)
      for use in uses where !use.isAnswered || use.isProcessed {
        if allowance == .always { continue }
        if risked > 0, use.token == "R1.1", let end, use.time >= end { continue }
        if allowance == .onceInGrace, use.outcome == "replayedInGrace", replays == 0 {
          replays += 1
          continue
        }
        risked += 1
      }
      return risked
    }.max() ?? 0
  }
}
