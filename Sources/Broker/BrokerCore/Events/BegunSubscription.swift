package import BrokerProtocol

/// A subscription that has begun: its answer, and the events that come behind it.
package struct BegunSubscription: Sendable {
  /// The caller.
  package let caller: CallerID
  /// Its connection.
  package let client: ClientID
  /// The answer.
  package let result: Subscribe.Result
  /// The first of what was missed since the sequence that the request named.
  package let missed: [SubscriptionHub.Delivery]
  /// Whether more was missed: see ``Broker/nextPage(of:_:)``.
  package let isReplaying: Bool
}
