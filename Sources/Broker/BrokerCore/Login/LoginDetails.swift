package import BrokerProtocol

/// What the events of a login tell beside its method.
package struct LoginDetails: Sendable, Equatable {
  /// What its client has given to have it back.
  package var clientContext: String?
  /// Who has begun it.
  package var beginners: LoginBeginners
  /// Whether a backup code stood in for the one-time code.
  package var usesBackupCode: Bool

  /// The details of a login.
  package init(
    clientContext: String? = nil, beginners: LoginBeginners = LoginBeginners(), usesBackupCode: Bool = false
  ) {
    self.clientContext = clientContext
    self.beginners = beginners
    self.usesBackupCode = usesBackupCode
  }
}
