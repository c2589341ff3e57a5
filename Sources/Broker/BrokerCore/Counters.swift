/// What was counted since the start.
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
  /// Sessions that a provider was told of that they are over.
  package var revocations = 0
  /// Such messages that are still to be sent.
  package var pendingRevocations = 0
  /// Such messages that were not sent, and are not tried any more.
  package var revocationsGivenUp = 0
}
