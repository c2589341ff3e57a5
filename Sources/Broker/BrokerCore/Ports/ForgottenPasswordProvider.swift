/// A provider that helps users who have forgotten their password.
package protocol ForgottenPasswordProvider: Sendable {
  /// Sends a token for a new password, if there is such an account; which of the two is not told.
  func forgotPassword(email: String) async throws(ProviderFailure)
}
