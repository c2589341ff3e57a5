package import BrokerProtocol

/// The counts and the last failure of one channel since the start: nothing of a message, a recipient or a code.
package struct DeliveryReport: Sendable, Equatable {
  /// The way.
  package let channel: DeliveryConfiguration.Channel
  /// Messages that were sent.
  package private(set) var sent = 0
  /// Messages that were given up.
  package private(set) var failed = 0
  /// Messages that are being sent.
  package private(set) var underWay = 0
  /// Why the last try failed that failed; nil where the last try of all succeeded.
  package private(set) var lastFailure: String?
  /// When that was.
  package private(set) var lastFailureAt: Timestamp?

  /// Nothing done so far.
  init(channel: DeliveryConfiguration.Channel) { self.channel = channel }

  /// Counts the beginning of a message.
  mutating func begin() { underWay += 1 }

  /// Counts a failed try.
  mutating func note(_ failure: DeliveryFailure, at now: Timestamp) {
    lastFailure = failure.text
    lastFailureAt = now
  }

  /// Counts the end of a message.
  mutating func end(_ outcome: DeliveryState, at now: Timestamp) {
    underWay -= 1
    if let failure = outcome.failure {
      failed += 1
      note(failure, at: now)
    } else {
      sent += 1
      lastFailure = nil
      lastFailureAt = nil
    }
  }
}
