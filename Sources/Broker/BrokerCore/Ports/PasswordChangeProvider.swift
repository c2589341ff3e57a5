package import SecretMemory

/// A provider whose users change their password.
package protocol PasswordChangeProvider: Sendable {
  /// Sets a new password; gives new tokens where the provider has exchanged the session's.
  func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet?
}
