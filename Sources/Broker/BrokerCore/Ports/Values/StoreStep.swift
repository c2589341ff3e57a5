package import BrokerProtocol

/// One part of a change of the store.
package enum StoreStep: Sendable, Equatable {
  /// Writes a profile's record and closes its refresh intent, unless a record with the same or a newer generation is
  /// there.
  case record(SessionRecord)
  /// Notes that a refresh token is about to be spent.
  case openIntent(RefreshIntent)
  /// Notes that the refresh token was certainly not spent.
  case closeIntent(ProfileName)
  /// Keeps a login that waits for its code or its user, in place of the profile's earlier one.
  case openLogin(PendingLoginRecord)
  /// Forgets the login of a profile that waits for its code or its user.
  case closeLogin(ProfileName)
  /// Keeps tokens that are still to be revoked, in place of those that were kept under the same name.
  case openRevocation(PendingRevocation)
  /// Forgets tokens that were revoked, or are not worth another try.
  case closeRevocation(PendingRevocation.ID)
  /// Keeps a session that a change of the configuration has signed out, in place of that of the same name.
  case park(ParkedSession)
  /// Forgets such a session: it has come back, or has ended for good.
  case unpark(ParkedSession.ID)
  /// Appends an event; what is kept is bounded by ``EventRetention``.
  case event(BrokerEvent)
  /// Notes that events up to this sequence may be missing.
  case eventsIncomplete(through: UInt64)
}
