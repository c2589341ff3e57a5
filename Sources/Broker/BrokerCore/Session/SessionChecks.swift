import BrokerProtocol

/// One session that is examined.
struct SessionCheck: Sendable {
  /// The request that waits for the result.
  enum Waiter: Sendable {
    /// A caller, and how it is answered after the last of its examinations.
    case caller(CallerID, answer: @Sendable (isolated Broker) -> Void)
    /// A logout, or what is left of it.
    case logout(UInt64)
    /// None.
    case none
  }

  /// The request that waits for it.
  let waiter: Waiter
  /// The profile.
  let slot: SlotID
  /// Why the provider may have ended the session; nil where nothing but its refusal is known.
  let reason: LogoutEvent.Reason?
}

/// The sessions that are examined for one caller, because their provider may have ended them.
struct SessionChecks: Equatable {
  /// The profile that the caller asked for; nil where it asked for none.
  let profile: ProfileName?
  /// The sessions that are still being examined.
  private(set) var open: Set<SlotID>
  /// Why the end of a session could not be made durable: the first of the reasons.
  private(set) var failure: StoreFailure?

  /// The sessions of some profiles, examined for a caller that asked for one, or for none.
  init(of slots: [SlotID], askedFor profile: ProfileName?) {
    self.profile = profile
    open = Set(slots)
  }

  /// Takes in that a session was examined.
  mutating func close(_ slot: SlotID, _ failure: StoreFailure?) {
    open.remove(slot)
    self.failure = self.failure ?? failure
  }
}
