package import BrokerProtocol

extension SubscriptionHub {
  /// The filter of a subscription.
  package struct Wish: Sendable, Equatable {
    /// The names of the events; nil for all.
    package var events: Set<EventName>?
    /// The profiles; nil for all.
    package var profiles: Set<ProfileName>?
    /// The profiles that exist for the subscriber.
    package internal(set) var visible: ProfileMask
    /// Whether the subscriber is told of questions to the owner, which are for administrative connections alone.
    package internal(set) var hearsConsents: Bool

    package init(
      events: Set<EventName>? = nil, profiles: Set<ProfileName>? = nil, visible: ProfileMask = .all,
      hearsConsents: Bool = false
    ) {
      self.events = events
      self.profiles = profiles
      self.visible = visible
      self.hearsConsents = hearsConsents
    }

    /// Whether the filter passes an event; events of no profile pass every filter.
    package func includes(_ event: BrokerEvent) -> Bool {
      if let events, !events.contains(event.payload.name) { return false }
      if event.payload.name == .consentRequested, !hearsConsents { return false }
      guard let profile = event.profile else { return true }
      return visible.includes(profile) && profiles?.contains(profile) ?? true
    }

    /// Whether the filter passes lasting events only.
    var isLasting: Bool { events.map { $0.allSatisfy(\.isLasting) } ?? false }
  }
}
