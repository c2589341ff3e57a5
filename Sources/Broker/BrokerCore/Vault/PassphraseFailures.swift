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
