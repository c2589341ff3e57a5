package import SecretMemory

/// A provider whose users remove their account.
package protocol AccountDeletionProvider: Sendable {
  /// Removes the account.
  func deleteAccount(password: Secret, accessToken: BoundToken) async throws(ProviderFailure)
}
