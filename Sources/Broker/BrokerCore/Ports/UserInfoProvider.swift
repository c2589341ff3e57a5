package import BrokerProtocol
package import SecretMemory

/// A provider that tells who a session's user is.
package protocol UserInfoProvider: Sendable {
  /// Tells whose session it is.
  func currentUser(accessToken: Secret) async throws(ProviderFailure) -> User
}
