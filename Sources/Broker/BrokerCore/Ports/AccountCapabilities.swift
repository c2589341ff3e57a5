package import BrokerProtocol
package import SecretMemory

/// A provider whose users change their password.
package protocol PasswordChangeProvider: Sendable {
  /// Sets a new password; gives new tokens where the provider has exchanged the session's.
  func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet?
}

/// A provider that helps users who have forgotten their password.
package protocol ForgottenPasswordProvider: Sendable {
  /// Sends a token for a new password, if there is such an account; the caller does not learn whether there is.
  func forgotPassword(email: String) async throws(ProviderFailure)
}

/// A provider that takes the tokens which it sends to users who have forgotten their password.
package protocol PasswordResetProvider: Sendable {
  /// Sets a new password with the token that was sent.
  func resetPassword(token: Secret, newPassword: Secret) async throws(ProviderFailure)
}

/// A provider that has e-mail addresses verified by a token that it sends.
package protocol EmailVerificationProvider: Sendable {
  /// Confirms an e-mail address with the token that was sent to it.
  func verifyEmail(token: Secret) async throws(ProviderFailure)
}

/// A provider whose users can change the account's data.
package protocol ProfileUpdateProvider: Sendable {
  /// Changes the account's data, and returns it as it is then; a second factor that must be tried first has only begun
  /// to be enrolled.
  func updateProfile(_ changes: ProfileChanges, accessToken: BoundToken) async throws(ProviderFailure) -> ProfileUpdate
}

/// A provider whose users enrol a second factor, which counts once its first code was right.
package protocol FactorEnrolmentProvider: Sendable {
  /// Confirms an enrolment with the first code of the factor, and tells what is known of the account then.
  ///
  /// `flow` is the provider's own handle, of a ``ProviderEnrolment``.
  func confirmEnrolment(flow: Secret, code: Secret) async throws(ProviderFailure) -> User
}

/// A provider whose users make new backup codes.
package protocol BackupCodeIssuer: Sendable {
  /// Makes new backup codes, and ends the earlier ones; they are shown this once.
  func generateBackupCodes(password: Secret, accessToken: BoundToken) async throws(ProviderFailure) -> [Secret]
}

/// A provider whose users remove their account.
package protocol AccountDeletionProvider: Sendable {
  /// Removes the account.
  func deleteAccount(password: Secret, accessToken: BoundToken) async throws(ProviderFailure)
}
