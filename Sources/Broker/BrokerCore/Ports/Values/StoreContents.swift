package import BrokerProtocol

/// Everything that rests in the store when the broker starts.
package struct StoreContents: Sendable {
  /// One record for each profile that ever had a session.
  package var records: [SessionRecord]
  /// Profiles whose record cannot be trusted.
  package var tampered: [ProfileName] = []
  /// Whether something else than a profile's record cannot be trusted: the store as a whole, its events, its age.
  package var isSuspect = false
  /// Whether all of it may be an older copy: the refresh tokens may have been spent since.
  package var mayBeOlder = false
  /// Refreshes of which it is not known whether they were sent.
  package var intents: [RefreshIntent] = []
  /// Logins that wait for their code or their user.
  package var pendingLogins: [PendingLoginRecord] = []
  /// Tokens that are still to be revoked, also those of profiles that are not configured now.
  package var revocations: [PendingRevocation] = []
  /// Sessions that changes of the configuration have signed out.
  package var parked: [ParkedSession] = []
  /// From where on events can be replayed.
  package var completeness = EventCompleteness()
  /// The last sequence that may have been given.
  package var lastSequence: UInt64

  package init(records: [SessionRecord], lastSequence: UInt64) {
    self.records = records
    self.lastSequence = lastSequence
  }
}
