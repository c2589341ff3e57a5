package import BrokerProtocol

/// What the core knows of one configured profile.
package struct ProfileSettings: Sendable {
  /// The profile.
  package var name: ProfileName
  /// Who logs it in.
  package var provider: any AuthProvider
  /// When its tokens are good enough.
  package var policy: ExpiryPolicy

  /// The settings of a profile.
  package init(name: ProfileName, provider: any AuthProvider, policy: ExpiryPolicy = ExpiryPolicy()) {
    self.name = name
    self.provider = provider
    self.policy = policy
  }
}
