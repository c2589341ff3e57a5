/// The purpose of a message; the names are part of the database's format.
enum MessagePurpose: String {
  /// It has the code of a login.
  case login
  /// It has the token for a new password.
  case reset
  /// It has the token that verifies an e-mail address.
  case verify
  /// It has the token that makes another e-mail address the account's.
  case change
  /// It has the code that proves a second factor's phone number or e-mail address.
  case enrol
  /// It tells of something that was done.
  case notice

  /// The group that it counts in.
  var share: MessageLimits.Share {
    switch self {
    case .reset: .reset
    case .notice: .notice
    case .login, .verify, .change, .enrol: .other
    }
  }
}
