/// A provider at which accounts can be made.
package protocol RegistrationProvider: Sendable {
  /// Makes an account and logs in as ``AuthProvider/login(_:)`` does.
  func register(_ registration: Registration) async throws(ProviderFailure) -> LoginOutcome
}
