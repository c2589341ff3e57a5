/// Counts the wrong codes of a day, for each account over all its logins, and for each provider over all accounts.
///
/// A hard stop: a code of six digits may be guessed at so often in a day, and not once more, however many logins are
/// begun. It ends by itself as the guesses become a day old, so that no user is shut out for good.
package struct GuessLedger: Sendable {
  /// How long a guess is remembered.
  package static let day = Duration.seconds(86_400)

  private struct Account: Hashable {
    let provider: ProviderBinding
    let name: String
  }

  private let ledger: LimitLedger
  /// When codes were guessed, the oldest first; at most as many as the limit was then.
  private var accounts: [Account: [Duration]] = [:]
  private var providers: [ProviderBinding: [Duration]] = [:]

  /// A ledger without an entry, with the numbers of the table.
  package init(_ ledger: LimitLedger) { self.ledger = ledger }

  /// How many accounts are remembered.
  package var accountCount: Int { accounts.count }

  /// Whether any guess is not a day old.
  package func isAnyYoung(at uptime: Duration) -> Bool {
    providers.values.contains { guesses in guesses.last.map { uptime - $0 < Self.day } ?? false }
  }

  /// Why the account may not guess, and for how long; nil where it may now.
  package func refusal(of subject: CallLimiter.Subject, at uptime: Duration) -> CallLimiter.Refusal? {
    let own = key(subject).flatMap { accounts[$0] } ?? []
    let refusals = [
      refusal(own, .accountWrongCodes, uptime),
      refusal(providers[subject.provider] ?? [], .providerWrongCodes, uptime),
    ]
    return refusals.compactMap(\.self).max { $0.wait < $1.wait }
  }

  /// Counts a guess before it is made.
  ///
  /// - Returns: why not, where there is none left; then nothing is counted.
  package mutating func add(_ subject: CallLimiter.Subject, at uptime: Duration) -> CallLimiter.Refusal? {
    if let refusal = refusal(of: subject, at: uptime) { return refusal }
    forgetOld(at: uptime)
    if let key = key(subject) { accounts[key, default: []].append(uptime) }
    providers[subject.provider, default: []].append(uptime)
    return nil
  }

  /// Forgets the last guess, which was right or was never made.
  package mutating func removeLast(_ subject: CallLimiter.Subject) {
    if let key = key(subject) {
      _ = accounts[key]?.popLast()
      if accounts[key]?.isEmpty == true { accounts[key] = nil }
    }
    _ = providers[subject.provider]?.popLast()
    if providers[subject.provider]?.isEmpty == true { providers[subject.provider] = nil }
  }

  private func key(_ subject: CallLimiter.Subject) -> Account? {
    subject.account.map { Account(provider: subject.provider, name: $0) }
  }

  private func refusal(_ guesses: [Duration], _ limit: Limit, _ uptime: Duration) -> CallLimiter.Refusal? {
    let most = max(ledger.limits[limit], 1)
    guard guesses.count >= most else { return nil }
    // The one whose end of the day leaves room for another.
    let wait = guesses[guesses.count - most] + Self.day - uptime
    return wait > .zero ? CallLimiter.Refusal(limit: limit, wait: wait) : nil
  }

  private mutating func forgetOld(at uptime: Duration) {
    accounts = accounts.compactMapValues { Self.young($0, uptime) }
    providers = providers.compactMapValues { Self.young($0, uptime) }
  }

  private static func young(_ guesses: [Duration], _ uptime: Duration) -> [Duration]? {
    let young = Array(guesses.drop { uptime - $0 >= day })
    return young.isEmpty ? nil : young
  }
}
