package import SecretMemory

/// A provider whose logins may want a one-time code.
package protocol ChallengeProvider: Sendable {
  /// Answers a pending challenge with its code. `flow` is the provider's own handle.
  func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession
}
