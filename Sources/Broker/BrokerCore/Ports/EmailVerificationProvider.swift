package import SecretMemory

/// A provider that has e-mail addresses verified by a token that it sends.
package protocol EmailVerificationProvider: Sendable {
  /// Confirms an e-mail address with the token that was sent to it.
  func verifyEmail(token: Secret) async throws(ProviderFailure)
}
