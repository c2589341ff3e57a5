package import SecretMemory

/// A provider whose users log in at another device (RFC 8628).
package protocol DeviceLoginProvider: Sendable {
  /// Asks once whether the user has done what was asked of them there (RFC 8628, section 3.4).
  ///
  /// `flow` is the provider's own handle. The caller keeps the interval, and slows down where it is told to.
  func pollUserAction(flow: Secret) async throws(ProviderFailure) -> UserActionProgress
}
