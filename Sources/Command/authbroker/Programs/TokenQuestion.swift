import AuthBrokerClient
import BrokerProtocol
import JSON

/// A question for a token that must live for some time, for a program that cannot ask again.
struct TokenQuestion {
  /// The broker's answer; it holds the token, and nothing wipes it: this process ends at once, or becomes another
  /// program.
  struct Answer {
    /// The answer, taken apart.
    let root: JSONNode
    /// When the token expires; nil where the provider does not say it.
    let expiresAt: Timestamp?

    /// The message for people.
    var sentence: String {
      guard let expiresAt else { return "the provider does not say when the token expires" }
      return "the token expires \(LocalTime.relative(expiresAt))"
    }

    /// How long the token lives from now on; nil: not known.
    var life: Duration? { expiresAt.map { $0 - LocalTime.now } }
  }

  private let context: Context
  private let choice: TokenChoice
  private let leastLife: Duration?

  /// A question; nothing is asked yet.
  init(_ context: Context, _ choice: TokenChoice, leastLife: Duration?) {
    self.context = context
    self.choice = choice
    self.leastLife = leastLife
  }

  /// Asks, and again for a new token where the present one lives shorter than is wanted.
  ///
  /// A broker refreshes no token for a want that none can be relied on to meet: only here is it known that no other will do.
  ///
  /// - Throws: a failure with code 5 where the new one lives shorter too, with code 6 for one that is bound to a key.
  func answer() throws(CommandFailure) -> Answer {
    var answer = try ask(forceRefresh: false)
    guard isTooShort(answer) else { return answer }
    answer = try ask(forceRefresh: true)
    guard isTooShort(answer) else { return answer }
    let expiry = answer.expiresAt.map { LocalTime.relative($0) } ?? ""
    let wanted = (context.arguments["--min-life"] ?? "").shellQuoted
    throw CommandFailure(
      .providerUnavailable, "even a new token expires \(expiry), sooner than --min-life \(wanted) allows; ask for less")
  }

  private func isTooShort(_ answer: Answer) -> Bool {
    guard let leastLife, let life = answer.life else { return false }
    return life < leastLife
  }

  private func ask(forceRefresh: Bool) throws(CommandFailure) -> Answer {
    var params = choice.params(minValidity: leastLife, forceRefresh: forceRefresh)
    if let timeout = try context.arguments.seconds("--timeout") { params.timeout = timeout }
    let text = try context.text(of: GetAccessToken.name, params)
    guard let root = try? JSONDocument(parsing: text).root, root["accessToken"] != nil else {
      throw CommandFailure(.failure, "the broker's answer has no token")
    }
    try BearerToken.check(root)
    return Answer(root: root, expiresAt: try? root.optional("expiresAt", Timestamp.init(from:)))
  }
}
