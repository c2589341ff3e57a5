package import BrokerProtocol

/// One change of the store, and the events that tell of it.
package struct StoreChange: Sendable {
  /// The effect of a refusal by the store on a change and on its events.
  package enum Kind: Sendable {
    /// The change is what the events report: where it is refused, they are not published either.
    case record
    /// The events are true whether the change is made or not.
    case note
  }

  /// The effect of a refusal by the store.
  package var kind: Kind
  /// The steps to write beside the events.
  package var steps: [StoreStep]
  /// The events to publish once it is written.
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

/// The work that waits for a change to be durable, or to fail.
enum Settlement: Sendable {
  /// A flight may send its refresh token: its intent, which was decided on at that uptime, was written.
  case intent(SlotID, flight: UInt64, since: Duration)
  /// The machine of a profile is told of its record.
  case record(RecordSave)
  /// The queue of revocations gets the outcome of one.
  case revocation(PendingRevocation.ID)
  /// A logout waits for the end of a profile's session.
  case logout(UInt64, ProfileName)
  /// A logout waits for the end of a session whose profile has left the configuration.
  case leftSession(UInt64, ProfileName)
  /// The end of a kept session is durable, or the session is kept still.
  case parkedEnd(ParkedEnd)
  /// An examination waits for its result to be durable.
  case sessionCheck(SessionCheck)
  /// An examination waits for a login that is being saved, to examine its session.
  case loginBeforeCheck(SessionCheck)
  /// A caller waits for the effect of an account change, which the provider has made already, on the profile's session;
  /// the sessions of these other profiles are examined then.
  case account(Caller<Empty>, ProfileName, others: [ProfileName], LogoutEvent.Reason)
  /// Something waits for a record to be tried once more.
  case retry(@Sendable (isolated Broker, StoreFailure?) -> Void)
  /// A queued request goes on.
  case request(@Sendable (isolated Broker, StoreFailure?) -> Void)
  /// A login goes on.
  case login(LoginSettlement)
}
