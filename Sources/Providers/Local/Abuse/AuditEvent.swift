/// What the provider has decided, as its audit says it; the names are part of the database's format.
enum AuditEvent: String {
  /// An account was made.
  case accountRegistered
  /// An account was removed.
  case accountDeleted
  /// A session began.
  case loginSucceeded
  /// A password was wrong, or the account may not log in.
  case loginRefused
  /// An e-mail address was verified.
  case emailVerified
  /// A token for a new password was asked for.
  case passwordForgotten
  /// A password was set with such a token.
  case passwordReset
  /// A password was set with the old one.
  case passwordChanged
  /// The provider's keys were lost, and others drawn.
  case keysRenewed
}
