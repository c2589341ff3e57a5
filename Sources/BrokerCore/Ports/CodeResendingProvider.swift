package import SecretMemory

/// A provider that sends one-time codes, and another one on request.
package protocol CodeResendingProvider: Sendable {
  /// Sends another code. `flow` is the provider's own handle.
  func resendOTP(flow: Secret) async throws(ProviderFailure) -> ProviderChallenge
}
