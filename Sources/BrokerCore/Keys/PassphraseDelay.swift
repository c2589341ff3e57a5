/// How long the answer to a wrong passphrase is kept back, as ssh-agent(1) does after `ssh-add -X`.
///
/// Every try costs a slow hash already; the delay makes guessing through the socket slower than guessing on a copy.
package struct PassphraseDelay: Sendable, Equatable {
  /// After the first failure: a typing error is hardly felt.
  package static let shortest = Duration.milliseconds(100)
  /// After many: a person who has forgotten the passphrase is not locked out by somebody else's guesses.
  package static let longest = Duration.seconds(10)

  private var failures = 0

  /// No failure yet.
  package init() {}

  /// Counts a failure; gives how long its answer is kept back.
  package mutating func noteFailure() -> Duration {
    failures += 1
    return min(Self.shortest * Double(1 << min(failures - 1, 10)), Self.longest)
  }

  /// Forgets the failures: the right passphrase was given.
  package mutating func noteSuccess() { failures = 0 }
}
