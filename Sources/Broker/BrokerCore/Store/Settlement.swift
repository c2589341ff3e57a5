import BrokerProtocol

/// What is to be done once a change is durable, or could not be made so.
enum Settlement: Sendable {
  /// A flight may send its refresh token: its intent was written.
  case intent(SlotID, flight: UInt64)
  /// The machine of a profile is told of its record.
  case record(RecordSave)
  /// The queue of revocations is told of one.
  case revocation(PendingRevocation.ID)
  /// A logout waits for the end of a profile's session.
  case logout(UInt64, ProfileName)
  /// A logout waits for the end of a session whose profile has left the configuration.
  case leftSession(UInt64, ProfileName)
  /// The end of a kept session is durable, or the session is kept still.
  case parkedEnd(ParkedEnd)
  /// An examination waits for what came of a session.
  case sessionCheck(SessionCheck)
  /// An examination waits for a login that is being saved, to examine its session.
  case loginBeforeCheck(SessionCheck)
  /// A caller waits for what a change of an account, which the provider has made already, means for the profile's session;
  /// the sessions of these other profiles are examined then.
  case account(Caller<Empty>, ProfileName, others: [ProfileName], LogoutEvent.Reason)
  /// A login goes on.
  case login(LoginSettlement)
}
