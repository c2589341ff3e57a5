/// A login that waits for its code or its user, as it rests.
package struct PendingLoginRecord: Sendable, Equatable {
  /// What the login is bound to: nothing of it is sent to another place.
  package var binding: ProviderBinding
  /// The login.
  package var login: PendingLogin

  package init(binding: ProviderBinding, login: PendingLogin) {
    self.binding = binding
    self.login = login
  }
}
