/// A second factor, asked for after the password; the names are part of the database's format.
enum SecondFactor: String {
  /// Nothing.
  case off
  /// A code that is sent to its phone number.
  case sms
  /// A code that is sent to its e-mail address.
  case email
  /// A code of an authenticator app (RFC 6238).
  case totp
}
