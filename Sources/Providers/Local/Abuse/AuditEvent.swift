/// A decision of the provider, as the audit names it; the names are part of the database's format.
enum AuditEvent: String {
  /// An account was made.
  case accountRegistered
  /// An account was removed.
  case accountDeleted
  /// The owner of the state directory keeps an account from logging in.
  case accountDisabled
  /// An account may log in again.
  case accountEnabled
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
  /// A code was sent for a login.
  case codeSent
  /// A one-time code or a backup code was wrong.
  case codeRefused
  /// A login was finished with a backup code.
  case backupCodeUsed
  /// An account got new backup codes.
  case backupCodesMade
  /// An account's second factor was changed.
  case factorChanged
  /// A new e-mail address was given, which waits for its verification.
  case emailChangeRequested
  /// An account's e-mail address was changed.
  case emailChanged
  /// An account's phone number was changed or removed.
  case phoneNumberChanged
  /// A notice was not sent, since too many were.
  case noticeDropped
  /// A refresh token came a second time, and its session was ended.
  case refreshReused
  /// A session, or all sessions of an account, were revoked.
  case sessionsRevoked
  /// Another key signs access tokens.
  case keyRotated
  /// The provider's keys were lost, and others drawn.
  case keysRenewed
}
