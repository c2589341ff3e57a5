package import BrokerProtocol
package import SecretMemory

/// A provider whose users enrol a second factor, which counts once its first code was right.
package protocol FactorEnrolmentProvider: Sendable {
  /// Confirms an enrolment with the first code of the factor, and tells what is known of the account then.
  ///
  /// `flow` is the provider's own handle, of a ``ProviderEnrolment``.
  func confirmEnrolment(flow: Secret, code: Secret) async throws(ProviderFailure) -> User
}
