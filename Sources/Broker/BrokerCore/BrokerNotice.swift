package import BrokerProtocol

/// A notice from the broker to its host: an answer, an event or a report.
package enum BrokerNotice: Sendable {
  /// The answer to a request, exactly once.
  case answer(Answer, to: CallerID)
  /// A token is about to be sent for a client that does not see it, by its method.
  case used(Grant, by: Principal)
  /// The answer to a request for a subscription that has begun, and the events that come behind it.
  case subscribed(BegunSubscription)
  /// A page of missed events for a subscription that asked for it.
  case missed(ReplayPage)
  /// An event for a subscription.
  case delivery(SubscriptionHub.Delivery)
  /// An event that is true from now on, for subscribers and others.
  case told(BrokerEvent)
  /// A question waits for the owner's answer.
  case consentAsked(ConsentQuestion)
  /// A question has ended.
  case consentDecided(ConsentDecision)
  /// The vault is locked for clients: no token may wait to be read any longer.
  case locked
  /// Nothing slow is under way any more, and everything is saved.
  case idle
  /// Something is wrong.
  case problem(Problem)
  /// Something about the audit is to be told.
  case audit(AuditNotice)

  /// A problem, or the end of one, for the administrator's log.
  package enum Problem: Sendable, Equatable {
    /// A record in the store is not the one that was written: a profile's, or, for nil, one of no profile.
    case storeTampered(ProfileName?)
    /// The shared session of a profile is older in its store than it was.
    case storeRolledBack(ProfileName)
    /// The store cannot be written, and sequences may be given twice after a crash.
    case sequencesNotReserved
    /// The newest state of a profile could not be saved, and is tried again.
    case notSaved(ProfileName)
    /// It is saved now.
    case saved(ProfileName)
    /// The clock of a profile's provider is ahead of this machine's by so much, or no longer where it was.
    case clockSkewed(ProfileName, Duration?)
    /// A pending login of a profile has ended without a session, and no caller waits for it.
    case loginFailed(ProfileName, BrokerError)
    /// The revocation of a profile's tokens was given up: they end when they expire.
    case revocationGivenUp(ProfileName)
    /// A change of the configuration has signed a profile out, whose session is kept so long.
    case parked(ProfileName, until: Timestamp)
    /// Such a session has ended for good, and no one has asked for it.
    case parkedEnded(ProfileName)
  }
}

/// Counters since the start.
package struct Counters: Sendable, Equatable {
  /// Tokens given, from the cache or not.
  package var tokens = 0
  /// Refreshes sent to providers.
  package var refreshes = 0
  /// Refreshes that did not succeed.
  package var refreshFailures = 0
  /// Logins that gave a session.
  package var logins = 0
  /// Logins, codes and registrations that were refused.
  package var loginFailures = 0
  /// One-time codes that logins have had sent.
  package var otpSent = 0
  /// One-time codes that were sent again on request.
  package var otpResent = 0
  /// Refusals by which a provider has locked an account, or stopped its guesses.
  package var lockouts = 0
  /// Events published.
  package var events = 0
  /// Records saved.
  package var saves = 0
  /// Records that could not be saved at the first try.
  package var saveFailures = 0
  /// Sessions revoked at their providers.
  package var revocations = 0
  /// Such messages that are still to be sent.
  package var pendingRevocations = 0
  /// Such messages that were not sent, and are not tried any more.
  package var revocationsGivenUp = 0
}
