package import BrokerProtocol

/// Kept events, as they were read in one instant.
package struct StoredEvents: Sendable, Equatable {
  /// The events, in order.
  package var events: [BrokerEvent]
  /// The sequence after which every kept event was there then: older ones may have gone.
  package var completeAfter: UInt64

  /// What was read.
  package init(events: [BrokerEvent], completeAfter: UInt64) {
    self.events = events
    self.completeAfter = completeAfter
  }
}
