package import BrokerProtocol
package import SecretMemory

/// A provider whose users enrol a second factor that shows itself by a first code.
package protocol FactorEnrolmentProvider: Sendable {
  /// Finishes an enrolment with the first code. `flow` is the provider's own handle.
  func confirmEnrolment(flow: Secret, code: Secret) async throws(ProviderFailure) -> User
}
