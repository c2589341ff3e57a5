/// The next part of what a subscription has missed.
package struct ReplayPage: Sendable {
  /// The connection.
  package let client: ClientID
  /// The subscription on it.
  package let subscriptionID: String
  /// The events, as far as they are wanted.
  package var deliveries: [SubscriptionHub.Delivery] = []
  /// The first and the last sequence of events that are no longer available; they come before the events.
  package var lost: (from: UInt64, through: UInt64)?
  /// Whether nothing comes behind it: what happens from now on is told as it happens.
  package var isLast = false
}
