package import BrokerProtocol

/// What the core knows of one configured profile.
package struct ProfileSettings: Sendable {
  /// The profile.
  package var name: ProfileName
  /// Who logs it in.
  package var provider: any AuthProvider
  /// What holds for its sessions.
  package var rules: SessionRules
  /// Whether clients may have the session's ID token.
  package var allowsIDToken: Bool

  package init(
    name: ProfileName, provider: any AuthProvider, rules: SessionRules = SessionRules(), allowsIDToken: Bool = false
  ) {
    self.name = name
    self.provider = provider
    self.rules = rules
    self.allowsIDToken = allowsIDToken
  }
}
