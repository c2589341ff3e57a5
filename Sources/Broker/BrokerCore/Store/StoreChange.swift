package import BrokerProtocol

/// One change of the store, and the events that tell of it.
package struct StoreChange: Sendable {
  /// What becomes of a change, and of its events, where the store refuses it.
  package enum Kind: Sendable {
    /// The change is what the events tell of: where it is not made, they are not told either.
    case record
    /// The events are true whether the change is made or not.
    case note
  }

  /// What becomes of it where the store refuses it.
  package var kind: Kind
  /// What is written beside the events.
  package var steps: [StoreStep]
  /// What is told once it is written.
  package var events: [EventPayload]
  /// The profile that the events are about.
  package var profile: ProfileName?
  /// Whether its record was tried before, with an error: where the store has it by now, only the rest is written.
  package var isRetry = false

  package init(_ kind: Kind, _ steps: [StoreStep] = [], telling events: [EventPayload] = [], of profile: ProfileName?) {
    self.kind = kind
    self.steps = steps
    self.events = events
    self.profile = profile
  }
}
