package import BrokerProtocol

/// A provider whose users change what it knows of them.
package protocol ProfileUpdateProvider: Sendable {
  /// Changes what is known of the account, and tells what it is then; a second factor that must be tried first has only begun
  /// to be enrolled.
  func updateProfile(_ changes: ProfileChanges, accessToken: BoundToken) async throws(ProviderFailure) -> ProfileUpdate
}
