/// Decides whether a provider may be called for a client now, before anything is sent.
///
/// A value that does no I/O and reads no clock; the numbers are those of the ledger at the time of the call. Every event is
/// legal in every state. What it keeps is bounded by its own rates: a bucket that is full again is forgotten.
package struct CallLimiter: Sendable {
  /// The kinds of call that cost a provider something.
  ///
  /// Only calls that clients cause count: an answer from memory, one shared with an equal login or token request, and a
  /// refusal of parameters cost nothing. A person, and a program that a person runs, stays far below.
  package enum Call: Hashable, Sendable, CaseIterable {
    case login, message, sentCode, code, mailToken, change, read, probe

    /// The limits of one connection, of one account where a call concerns one, and of one provider.
    package var limits: (connection: Limit, account: Limit?, provider: Limit) {
      switch self {
      case .login: (.connectionLogins, .accountLogins, .providerLogins)
      case .message: (.connectionMails, .accountMails, .providerMails)
      case .sentCode: (.connectionSentCodes, .accountSentCodes, .providerSentCodes)
      // Guesses have a ledger of their own, ``GuessLedger``.
      case .code: (.connectionCodes, nil, .providerCodes)
      case .mailToken: (.connectionMailTokens, nil, .providerMailTokens)
      case .change: (.connectionChanges, .accountChanges, .providerChanges)
      case .read: (.connectionReads, .accountReads, .providerReads)
      case .probe: (.connectionProbes, nil, .providerProbes)
      }
    }
  }

  /// The client, provider and account of a call: each has a budget.
  package struct Subject: Sendable, Hashable {
    /// The connection; nil for the broker's own calls.
    package var client: ClientID?
    /// The provider.
    package var provider: ProviderBinding
    /// The account, as ``account(_:)`` names it; nil where the call concerns none.
    package var account: String?

    package init(client: ClientID?, provider: ProviderBinding, account: String? = nil) {
      self.client = client
      self.provider = provider
      self.account = account
    }
  }

  /// Why a call is not made.
  package struct Refusal: Sendable, Equatable {
    /// The limit that keeps it back longest.
    package var limit: Limit
    /// How long to wait.
    package var wait: Duration

    package init(limit: Limit, wait: Duration) {
      self.limit = limit
      self.wait = wait
    }
  }

  /// One bucket's place.
  private enum Key: Hashable {
    case client(ClientID, Call)
    case account(ProviderBinding, String, Call)
    case provider(ProviderBinding, Call)
  }

  private let ledger: LimitLedger
  private var buckets: [Key: TokenBucket] = [:]
  /// How many buckets there may be before the full ones are looked for.
  private var sweepSize = Self.smallestSweep
  /// Wrong codes of the last day.
  package private(set) var guesses: GuessLedger

  /// So many buckets cost nothing worth looking for.
  private static let smallestSweep = 256
  /// The most bytes of an account's name, to which it is cut: no address is longer (RFC 5321, section 4.5.3.1), and
  /// none fills the memory.
  private static let longestAccount = 320

  /// A limiter that has seen no call, with the numbers of a ledger.
  package init(_ ledger: LimitLedger = LimitLedger()) {
    self.ledger = ledger
    guesses = GuessLedger(ledger)
  }

  /// How many buckets are kept.
  package var bucketCount: Int { buckets.count }

  /// The name of an account, in one spelling: blanks around it and the case of its letters make no other account.
  package static func account(_ name: String) -> String {
    let trimmed = name.unicodeScalars.drop { $0.properties.isWhitespace }
    var text = String(String.UnicodeScalarView(trimmed))
    while let last = text.unicodeScalars.last, last.properties.isWhitespace { text.unicodeScalars.removeLast() }
    return String(decoding: text.lowercased().utf8.prefix(longestAccount), as: UTF8.self)
  }

  /// Takes a token for a call at each place that it concerns, or none.
  ///
  /// - Returns: why not, where there is none; nil where the call may be made.
  package mutating func admit(_ call: Call, _ subject: Subject, at uptime: Duration) -> Refusal? {
    let places = places(call, subject)
    if let refusal = refusal(places, at: uptime) { return refusal }
    spend(places, at: uptime)
    return nil
  }

  /// Why a call may not be made; nil where it may.
  package func refusal(of call: Call, _ subject: Subject, at uptime: Duration) -> Refusal? {
    refusal(places(call, subject), at: uptime)
  }

  /// Counts a call that is only known after it was made: its buckets may owe tokens from now on.
  package mutating func note(_ call: Call, _ subject: Subject, at uptime: Duration) {
    spend(places(call, subject), at: uptime)
  }

  /// Takes in that a code is about to be checked.
  ///
  /// - Returns: why not, where the account, or its provider, has no guess left today.
  package mutating func guess(_ subject: Subject, at uptime: Duration) -> Refusal? {
    guesses.add(subject, at: uptime)
  }

  /// Takes in that the last guess was right, or was never sent.
  package mutating func refundGuess(_ subject: Subject) { guesses.removeLast(subject) }

  /// Forgets a connection that was closed.
  package mutating func forget(_ client: ClientID) {
    for call in Call.allCases { buckets[.client(client, call)] = nil }
  }

  // MARK: Buckets

  private typealias Bucket = (key: Key, limit: Limit, rate: TokenBucket.Rate)

  private func places(_ call: Call, _ subject: Subject) -> [Bucket] {
    let (limits, numbers) = (call.limits, ledger.limits)
    func bucket(_ key: Key, _ limit: Limit) -> Bucket {
      (key, limit, TokenBucket.Rate(burst: numbers[limit], interval: limit.row.interval ?? .zero))
    }
    var places = [bucket(.provider(subject.provider, call), limits.provider)]
    if let client = subject.client { places.append(bucket(.client(client, call), limits.connection)) }
    if let account = subject.account, let limit = limits.account {
      places.append(bucket(.account(subject.provider, account, call), limit))
    }
    return places
  }

  private func refusal(_ places: [Bucket], at uptime: Duration) -> Refusal? {
    let refusals = places.compactMap { place in
      (buckets[place.key] ?? TokenBucket()).wait(place.rate, at: uptime).map { Refusal(limit: place.limit, wait: $0) }
    }
    return refusals.max { $0.wait < $1.wait }
  }

  private mutating func spend(_ places: [Bucket], at uptime: Duration) {
    for place in places { buckets[place.key, default: TokenBucket()].spend(place.rate, at: uptime) }
    guard buckets.count > sweepSize else { return }
    buckets = buckets.filter { !$0.value.isFull(at: uptime) }
    sweepSize = max(Self.smallestSweep, buckets.count * 2)
  }
}
