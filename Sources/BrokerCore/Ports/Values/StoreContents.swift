package import BrokerProtocol

/// Everything that rests in the store when the broker starts.
package struct StoreContents: Sendable {
  /// One record for each profile that ever had a session.
  package var records: [SessionRecord]
  /// Profiles whose record cannot be trusted.
  package var tampered: [ProfileName] = []
  /// Whether something else than a profile's record cannot be trusted: the store as a whole, its events, its age.
  package var isSuspect = false
  /// Refreshes of which it is not known whether they were sent.
  package var intents: [RefreshIntent] = []
  /// Logins that wait for their code or their user.
  package var pendingLogins: [PendingLoginRecord] = []
  /// Tokens that are still to be revoked, also those of profiles that are not configured now.
  package var revocations: [PendingRevocation] = []
  /// The sequence after which every kept event can be replayed.
  package var eventsCompleteAfter: UInt64 = 0
  /// The same for lasting events alone; nil where those are no more complete.
  package var lastingEventsCompleteAfter: UInt64?
  /// The last sequence that may have been given.
  package var lastSequence: UInt64

  package init(records: [SessionRecord], lastSequence: UInt64) {
    self.records = records
    self.lastSequence = lastSequence
  }
}

extension StoreContents {
  /// From where on events can be replayed.
  package var eventCompleteness: EventCompleteness {
    EventCompleteness(all: eventsCompleteAfter, lasting: lastingEventsCompleteAfter)
  }
}
