package import BrokerProtocol

/// The wrong passphrases in a row so far: kept beside the store, so that a restart does not make guessing fast again.
package struct PassphraseFailures: Sendable, Equatable {
  /// How many there were since the right one was given.
  package var count: Int
  /// When the last one was given.
  package var lastAt: Timestamp

  /// None.
  package static let none = PassphraseFailures(count: 0, lastAt: Timestamp(milliseconds: 0))

  package init(count: Int, lastAt: Timestamp) {
    self.count = count
    self.lastAt = lastAt
  }
}

/// How long the answer to a wrong passphrase is kept back, as ssh-agent(1) does after `ssh-add -X`.
///
/// Every try costs a slow hash already; the delay makes guessing through the socket slower than guessing on a copy.
package struct PassphraseDelay: Sendable, Equatable {
  /// After the first failure: a typing error is hardly felt.
  package static let shortest = Duration.milliseconds(100)
  /// The longest delay: a person who has forgotten the passphrase is not locked out by another user's guesses.
  package static let longest = Duration.seconds(10)

  /// The failures so far.
  package private(set) var failures: PassphraseFailures

  /// Goes on after the failures that are known.
  package init(after failures: PassphraseFailures = .none) { self.failures = failures }

  /// Counts a failure.
  ///
  /// - Returns: how long its answer is delayed.
  package mutating func noteFailure(at time: Timestamp) -> Duration {
    // Beyond the longest delay the number says nothing more.
    failures = PassphraseFailures(count: min(max(failures.count, 0), 1 << 20) + 1, lastAt: time)
    return length
  }

  /// Forgets the failures: the right passphrase was given.
  package mutating func noteSuccess() { failures = .none }

  /// The rest of the delay after the last failure; all of it where the clock is behind that.
  package func remaining(at time: Timestamp) -> Duration {
    guard failures.count > 0 else { return .zero }
    let passed = max(time - failures.lastAt, .zero)
    return max(length - passed, .zero)
  }

  private var length: Duration {
    min(Self.shortest * Double(1 << min(max(failures.count - 1, 0), 10)), Self.longest)
  }
}
