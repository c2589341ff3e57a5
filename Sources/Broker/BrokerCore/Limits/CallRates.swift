import BrokerProtocol

/// How often providers are called for clients, at most: of each kind of call its three rows in the table of limits.
///
/// Only what clients want of a provider counts: what is answered from memory, shared with an equal login or token request,
/// or refused for its parameters costs nothing. A person, and a program that a person runs, stays far below. How many calls may be made at once is
/// configurable; how fast more are allowed after that is not.
package struct CallRates: Sendable {
  /// The rate at one place; a call needs a token at each place that it concerns.
  package struct Place: Sendable {
    /// How many calls may be made at once.
    package let limit: Limit
    /// How many those are where nothing is configured.
    let standard: Int
    /// After how long one more may be made.
    package let interval: Duration

    fileprivate init(_ limit: Limit, _ standard: Int, every interval: Duration) {
      self.limit = limit
      self.standard = standard
      self.interval = interval
    }

    /// The rate with the present number.
    func rate(_ limits: Limits) -> TokenBucket.Rate { TokenBucket.Rate(burst: limits[limit], interval: interval) }
  }

  /// The middle of the keys in the configuration: `max…PerConnection`.
  private let name: String
  /// What is counted, as a sentence begins.
  private let what: String
  /// How the numbers for a connection and an account were chosen.
  private let reason: String
  /// For one connection.
  package let connection: Place
  /// For one account of a provider: nil where a call concerns none.
  package let account: Place?
  /// For all connections and accounts at one provider: a client that connects again and again gains nothing.
  package let provider: Place

  /// The rates of a kind of call.
  package static func of(_ call: CallLimiter.Call) -> CallRates {
    switch call {
    case .login: login
    case .message: message
    case .sentCode: sentCode
    case .code: code
    case .mailToken: mailToken
    case .change: change
    case .read: read
    case .probe: probe
    }
  }

  /// The rows of all of them.
  static let rows: [Limit.Row] = CallLimiter.Call.allCases.flatMap { of($0).rows }

  private static let login = CallRates(
    name: "Logins", what: "Logins",
    reason: "A person who mistypes needs a handful; one in ten seconds is 8,640 passwords for an account in a day.",
    connection: Place(.connectionLogins, 60, every: .seconds(1)),
    account: Place(.accountLogins, 30, every: .seconds(10)),
    provider: Place(.providerLogins, 120, every: .seconds(1)))
  private static let message = CallRates(
    name: "Mails", what: "Mails and messages that calls have sent",
    reason: "One person wants two or three, and each costs money or patience.",
    connection: Place(.connectionMails, 10, every: .seconds(60)),
    account: Place(.accountMails, 5, every: .seconds(300)),
    provider: Place(.providerMails, 30, every: .seconds(20)))
  private static let sentCode = CallRates(
    name: "SentCodes", what: "Codes that logins have sent",
    reason: "Ten at once are more than a person reads.",
    connection: Place(.connectionSentCodes, 20, every: .seconds(60)),
    account: Place(.accountSentCodes, 10, every: .seconds(300)),
    provider: Place(.providerSentCodes, 40, every: .seconds(30)))
  /// Guesses have a ledger of their own, ``GuessLedger``.
  private static let code = CallRates(
    name: "Codes", what: "Codes that are checked",
    reason: "No person types faster; wrong codes have limits of their own.",
    connection: Place(.connectionCodes, 30, every: .seconds(2)), account: nil,
    provider: Place(.providerCodes, 60, every: .seconds(1)))
  private static let mailToken = CallRates(
    name: "MailTokens", what: "Tokens from mails that are checked",
    reason: "128 bits are not guessed, but a provider may make shorter ones.",
    connection: Place(.connectionMailTokens, 10, every: .seconds(10)), account: nil,
    provider: Place(.providerMailTokens, 20, every: .seconds(10)))
  private static let change = CallRates(
    name: "Changes", what: "Changes of accounts",
    reason: "Each may check a password; a person makes a few in a row.",
    connection: Place(.connectionChanges, 20, every: .seconds(3)),
    account: Place(.accountChanges, 20, every: .seconds(10)),
    provider: Place(.providerChanges, 60, every: .seconds(1)))
  private static let read = CallRates(
    name: "Reads", what: "User look-ups",
    reason: "What the broker knows already is answered from memory.",
    connection: Place(.connectionReads, 60, every: .seconds(1)),
    account: Place(.accountReads, 60, every: .seconds(1)),
    provider: Place(.providerReads, 240, every: .milliseconds(250)))
  private static let probe = CallRates(
    name: "Probes", what: "Probes",
    reason: "A person who repeats a check needs one in some seconds.",
    connection: Place(.connectionProbes, 20, every: .seconds(3)), account: nil,
    provider: Place(.providerProbes, 60, every: .seconds(1)))

  private var rows: [Limit.Row] {
    [
      row(connection, "PerConnection", .connection, "for one connection", reason),
      account.map { row($0, "PerAccount", .account, "for one account, over all connections", reason) },
      row(
        provider, "PerProvider", .provider, "at one provider, for all connections and accounts",
        "A few clients at once; one that connects again and again gains nothing."),
    ].compactMap(\.self)
  }

  private func row(
    _ place: Place, _ suffix: String, _ scope: Limit.Scope, _ whom: String, _ reason: String
  ) -> Limit.Row {
    let interval = place.interval / .seconds(1)
    let seconds = interval.rounded() == interval ? "\(Int(interval))" : "\(interval)"
    return Limit.Row(
      place.limit, "max\(name)\(suffix)", .calls, scope, 1...10_000, standard: place.standard,
      past: .error(.rateLimited), "\(what) \(whom) at once; after that one more every \(seconds) s.", because: reason)
  }
}
