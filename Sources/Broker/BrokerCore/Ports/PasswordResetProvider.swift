package import SecretMemory

/// A provider that takes the tokens which it sends to users who have forgotten their password.
package protocol PasswordResetProvider: Sendable {
  /// Sets a new password with the token that was sent.
  func resetPassword(token: Secret, newPassword: Secret) async throws(ProviderFailure)
}
