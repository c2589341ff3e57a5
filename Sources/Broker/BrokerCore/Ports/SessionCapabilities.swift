package import BrokerProtocol
package import SecretMemory

/// A provider at which accounts can be made.
package protocol RegistrationProvider: Sendable {
  /// Makes an account and logs in as ``AuthProvider/login(_:)`` does.
  func register(_ registration: Registration) async throws(ProviderFailure) -> LoginOutcome
}

/// A provider whose logins may want a one-time code.
package protocol ChallengeProvider: Sendable {
  /// Answers a pending challenge with its code. `flow` is the provider's own handle.
  func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession
}

/// A provider that sends one-time codes, and another one on request.
package protocol CodeResendingProvider: Sendable {
  /// Sends another code.
  ///
  /// `flow` is the provider's own handle; `channel` is one of the challenge's channels, nil: as the last one.
  func resendOTP(
    flow: Secret, by channel: OTPChallenge.Method?
  ) async throws(ProviderFailure) -> ProviderChallenge
}

extension CodeResendingProvider {
  /// Sends another code as the last one.
  package func resendOTP(flow: Secret) async throws(ProviderFailure) -> ProviderChallenge {
    try await resendOTP(flow: flow, by: nil)
  }
}

/// A provider that takes a backup code instead of a one-time code.
package protocol BackupCodeProvider: Sendable {
  /// The handling of the dashes that a person types in a backup code.
  var dashesOfBackupCodes: TypedCode.Dashes { get }

  /// Answers a pending challenge with one of the account's backup codes. `flow` is the provider's own handle.
  func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession
}

/// A provider whose users log in in a browser on this machine (RFC 8252).
package protocol BrowserLoginProvider: Sendable {
  /// Waits for the browser to come back to a loopback address (RFC 8252, section 7.3), and returns the session it
  /// brings.
  ///
  /// `flow` is the provider's own handle, and holds everything that is needed to listen again in another process. It
  /// ends soon after its task is cancelled, and then nothing listens any more.
  func awaitRedirect(flow: Secret) async throws(ProviderFailure) -> ProviderSession

  /// Takes the address that the browser of a login ended at from its user, where that browser cannot come back to this
  /// machine: ``awaitRedirect(flow:)`` goes on with it, unless the browser comes first.
  ///
  /// The provider is asked nothing. `flow` is the provider's own handle.
  ///
  /// - Throws: why the address is not this login's; then nothing has changed.
  func takeRedirect(_ address: Secret, flow: Secret) throws(RedirectFault)
}

/// A provider whose users log in at another device (RFC 8628).
package protocol DeviceLoginProvider: Sendable {
  /// Asks once whether the user has finished the user action (RFC 8628, section 3.4).
  ///
  /// `flow` is the provider's own handle. The caller keeps the interval, and slows down where it is told to.
  func pollUserAction(flow: Secret) async throws(ProviderFailure) -> UserActionProgress
}

/// A provider that gives sessions to the client itself (RFC 6749, section 4.4).
package protocol ClientSessionProvider: Sendable {
  /// Whether tokens are the client's own: there is no user, and the stand-in for the refresh token is none.
  func areClientsOwn(_ tokens: TokenSet) -> Bool
}

/// A provider that gives a session access tokens for more than one target.
package protocol TargetProvider: Sendable {
  /// Whether there may be tokens for a target, as far as that is known without asking the provider.
  func canGive(_ target: TokenTarget) -> Bool

  /// Spends the refresh token for an access token of another target than the session's.
  ///
  /// A refresh token in the answer replaces the session's; the session's own access token stays as it is. A refusal says
  /// nothing of the session, unless it is `.sessionEnded` with an alert.
  func accessToken(for target: TokenTarget, refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet
}

/// A provider that tells who a session's user is.
package protocol UserInfoProvider: Sendable {
  /// Tells whose session it is.
  func currentUser(accessToken: BoundToken) async throws(ProviderFailure) -> User
}

/// A provider that revokes tokens (RFC 7009).
package protocol RevocationProvider: Sendable {
  /// The extent of a revocation, where the provider's type tells it without an observation; nil otherwise.
  var habit: RevocationHabit? { get }

  /// Ends the session at the provider; `everywhere` ends all sessions of its user.
  func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure)
}
