/// A login that waits for its code or its user, as it rests.
package struct PendingLoginRecord: Sendable, Equatable {
  /// The binding of the login: nothing of it is sent to another provider.
  package var binding: ProviderBinding
  /// The login.
  package var login: PendingLogin

  package init(binding: ProviderBinding, login: PendingLogin) {
    self.binding = binding
    self.login = login
  }
}
