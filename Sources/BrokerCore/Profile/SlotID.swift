import BrokerProtocol

/// One stay of a profile in the configuration: what was begun for an earlier one is not taken in.
struct SlotID: Sendable {
  /// The profile.
  let profile: ProfileName
  /// Names the stay.
  let number: UInt64
}

extension SlotID {
  /// The present stay of a profile.
  init(_ slot: ProfileSlot) { self.init(profile: slot.name, number: slot.id) }
}
