/// A way on which messages leave this machine, or reach a program on it.
///
/// The fourth way, the ``Outbox``, is none of these: its files belong to rows of the provider's own tables and are written
/// with them, on the provider's thread.
protocol MessageChannel: Sendable {
  /// The channel's name in the configuration.
  var name: DeliveryConfiguration.Channel { get }

  /// Sends a message once.
  ///
  /// - Throws: `DeliveryFailure`. With `.unreachable` the message may have been sent all the same.
  func send(_ message: OutboundMessage) async throws(DeliveryFailure)
}
