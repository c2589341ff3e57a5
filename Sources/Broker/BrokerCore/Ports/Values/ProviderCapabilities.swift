/// An ability that not every provider has, named after the method that needs it.
package enum ProviderAbility: String, Sendable, CaseIterable {
  case register, verifyEmail, forgotPassword, resetPassword, getCurrentUser, updateProfile, changePassword
  case deleteAccount, resendOtp, verifyBackupCode, generateBackupCodes, awaitLogin
  case createProof
}

/// The optional capabilities of one provider as it is configured: each as the value that has it, nil where the provider
/// does not.
///
/// A provider makes it from its configuration, and nothing else says what it can do.
package struct ProviderCapabilities: Sendable {
  /// Accounts can be made.
  package var registration: (any RegistrationProvider)?
  /// E-mail addresses are verified.
  package var emailVerification: (any EmailVerificationProvider)?
  /// A token for a new password is sent.
  package var forgottenPassword: (any ForgottenPasswordProvider)?
  /// A token for a new password is taken.
  package var passwordReset: (any PasswordResetProvider)?
  /// The user of a session can be asked for.
  package var userInfo: (any UserInfoProvider)?
  /// Changes of the account's data.
  package var profileUpdate: (any ProfileUpdateProvider)?
  /// Passwords can be changed.
  package var passwordChange: (any PasswordChangeProvider)?
  /// Accounts can be removed.
  package var accountDeletion: (any AccountDeletionProvider)?
  /// Logins may want a one-time code.
  package var challenges: (any ChallengeProvider)?
  /// Another one-time code can be sent.
  package var codeResending: (any CodeResendingProvider)?
  /// Backup codes are taken.
  package var backupCodes: (any BackupCodeProvider)?
  /// Backup codes are made.
  package var backupCodeIssuing: (any BackupCodeIssuer)?
  /// A second factor can be enrolled.
  package var factorEnrolment: (any FactorEnrolmentProvider)?
  /// Logins at another device can be followed.
  package var deviceLogin: (any DeviceLoginProvider)?
  /// Logins in a browser can be followed.
  package var browserLogin: (any BrowserLoginProvider)?
  /// The client itself may have a session.
  package var clientSessions: (any ClientSessionProvider)?
  /// Sessions need no login.
  package var grant: (any GrantProvider)?
  /// There may be access tokens for other targets.
  package var targets: (any TargetProvider)?
  /// Tokens can be revoked.
  package var revocation: (any RevocationProvider)?
  /// Tokens can be bound to a key.
  package var proofs: (any ProofProvider)?

  /// None of them.
  package init() {}
}

/// The defaults for a capability that the core asks about without needing it.
extension ProviderCapabilities {
  /// Whether tokens are the client's own; otherwise every session is a user's.
  func areClientsOwn(_ tokens: TokenSet) -> Bool { clientSessions?.areClientsOwn(tokens) ?? false }

  /// Whether there may be tokens for a target; otherwise a session has one token, and no other.
  func canGive(_ target: TokenTarget) -> Bool { targets?.canGive(target) ?? false }

  /// The handling of dashes in a backup code; without the capability they are removed.
  var dashesOfBackupCodes: TypedCode.Dashes { backupCodes?.dashesOfBackupCodes ?? .removed }
}
