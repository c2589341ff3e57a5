import BrokerProtocol

/// The events that wait for a hook whose program is running.
///
/// A value with a bound: one that is told again takes the place of the earlier, and of too many the oldest are dropped.
struct HookQueue {
  /// The most events that wait: some hundred profiles of one event each; a megabyte where each is as long as it may be.
  static let most = 256

  private var events: [BrokerEvent] = []
  /// How many were dropped since that was last told.
  private(set) var dropped = 0

  /// Whether none waits.
  var isEmpty: Bool { events.isEmpty }

  /// Adds an event.
  ///
  /// Those that begin or end a session, or may be an attack, are each told, and so is each question to the owner; of others
  /// of one profile, the newest.
  mutating func add(_ event: BrokerEvent) {
    let name = event.payload.name
    let earlier = events.firstIndex { other in
      other.payload.name == name && other.profile == event.profile
        && (!name.isLasting && name != .consentRequested || other.payload == event.payload)
    }
    if let earlier { events.remove(at: earlier) }
    if events.count >= Self.most {
      events.removeFirst()
      dropped += 1
    }
    events.append(event)
  }

  /// Takes out the oldest event; nil where none waits.
  mutating func next() -> BrokerEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// Takes out how many were dropped.
  mutating func takeDropped() -> Int {
    defer { dropped = 0 }
    return dropped
  }

  /// Drops all that wait: the hook is gone from the configuration.
  mutating func clear() { events = [] }
}
