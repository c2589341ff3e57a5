import BrokerProtocol

/// One stay of a profile in the configuration: what was begun for an earlier one is not taken in.
struct SlotID: Hashable, Sendable {
  /// The profile.
  let profile: ProfileName
  /// Names the stay.
  let number: UInt64
}
