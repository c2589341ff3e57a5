package import BrokerProtocol

/// A provider that tells who a session's user is.
package protocol UserInfoProvider: Sendable {
  /// Tells whose session it is.
  func currentUser(accessToken: BoundToken) async throws(ProviderFailure) -> User
}
