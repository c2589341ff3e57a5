package import BrokerProtocol
package import SecretMemory

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
