package import BrokerProtocol

/// Kept events, as they were read in one instant: a page of them at most.
package struct StoredEvents: Sendable, Equatable {
  /// The events, in order.
  package var events: [BrokerEvent]
  /// The sequence up to which the page goes: further ones are in the next page.
  package var through: UInt64
  /// From where on every kept event was there then: older ones may have gone.
  package var completeness: EventCompleteness

  package init(events: [BrokerEvent], through: UInt64, completeness: EventCompleteness) {
    self.events = events
    self.through = through
    self.completeness = completeness
  }
}

/// The sequences after which every event can be replayed.
package struct EventCompleteness: Sendable, Equatable {
  /// For a subscription to events of all kinds.
  package var all: UInt64
  /// For a subscription to lasting ones only, which are kept apart: see `EventName.isLasting`.
  package var lasting: UInt64

  /// The sequences; the lasting events are never less complete than all of them.
  package init(all: UInt64 = 0, lasting: UInt64? = nil) {
    self.all = all
    self.lasting = min(lasting ?? all, all)
  }

  /// Notes that events up to this one may be missing.
  package mutating func lose(through sequence: UInt64, lasting isLasting: Bool) {
    all = max(all, sequence)
    if isLasting { lasting = max(lasting, sequence) }
  }

  /// What is missing in either of two.
  package func joined(with other: EventCompleteness) -> EventCompleteness {
    EventCompleteness(all: max(all, other.all), lasting: max(lasting, other.lasting))
  }
}
