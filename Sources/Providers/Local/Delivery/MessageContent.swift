import SecretMemory

/// The content of a message to a user: one text for all channels, short enough for one SMS where it goes by SMS.
///
/// It holds the code or token that it is about and nothing else of the account: no name, no address, no password.
enum MessageContent: Sendable {
  /// The code that finishes a login.
  case loginCode(Secret, lifetime: Duration)
  /// The code that shows that a phone number or an e-mail address is the user's, before login codes go there.
  case enrolmentCode(Secret, lifetime: Duration)
  /// The token that shows that an e-mail address is its account's owner's.
  case emailVerification(token: Secret, lifetime: Duration)
  /// The token that stands in for a forgotten password.
  case passwordReset(token: Secret, lifetime: Duration)
  /// The password was changed.
  case passwordChanged
  /// Another e-mail address was given, which waits for its verification: sent to the present one.
  case emailAddressChangeRequested
  /// The e-mail address was changed: sent to the old one.
  case emailAddressChanged
  /// The phone number was changed, or removed.
  case phoneNumberChanged
  /// The way of the second factor was changed.
  case secondFactorChanged

  /// The kind of a message; the names are keys of the configuration.
  enum Kind: String, CaseIterable {
    case loginCode, enrolmentCode, emailVerification, passwordReset, passwordChanged, emailAddressChangeRequested
    case emailAddressChanged, phoneNumberChanged, secondFactorChanged

    /// The field that its text must have.
    var value: MessageTemplate.Field? {
      switch self {
      case .loginCode, .enrolmentCode: .code
      case .emailVerification, .passwordReset: .token
      case .passwordChanged, .emailAddressChangeRequested, .emailAddressChanged, .phoneNumberChanged,
        .secondFactorChanged:
        nil
      }
    }
  }

  /// The kind of message.
  var kind: Kind {
    switch self {
    case .loginCode: .loginCode
    case .enrolmentCode: .enrolmentCode
    case .emailVerification: .emailVerification
    case .passwordReset: .passwordReset
    case .passwordChanged: .passwordChanged
    case .emailAddressChangeRequested: .emailAddressChangeRequested
    case .emailAddressChanged: .emailAddressChanged
    case .phoneNumberChanged: .phoneNumberChanged
    case .secondFactorChanged: .secondFactorChanged
    }
  }

  /// How long its code or token is good; nil where it has none.
  var lifetime: Duration? {
    switch self {
    case .loginCode(_, let lifetime), .enrolmentCode(_, let lifetime), .emailVerification(_, let lifetime),
      .passwordReset(_, let lifetime):
      lifetime
    case .passwordChanged, .emailAddressChangeRequested, .emailAddressChanged, .phoneNumberChanged,
      .secondFactorChanged:
      nil
    }
  }

  /// The code; nil where there is none.
  var code: Secret? {
    switch self {
    case .loginCode(let code, _), .enrolmentCode(let code, _): code
    case .emailVerification, .passwordReset, .passwordChanged, .emailAddressChangeRequested, .emailAddressChanged,
      .phoneNumberChanged, .secondFactorChanged:
      nil
    }
  }

  /// The token; nil where there is none.
  var token: Secret? {
    switch self {
    case .emailVerification(let token, _), .passwordReset(let token, _): token
    case .loginCode, .enrolmentCode, .passwordChanged, .emailAddressChangeRequested, .emailAddressChanged,
      .phoneNumberChanged,
      .secondFactorChanged:
      nil
    }
  }

  /// One line of ASCII.
  var subject: String {
    switch self {
    case .loginCode: "Your login code"
    case .enrolmentCode: "Your confirmation code"
    case .emailVerification: "Confirm your e-mail address"
    case .passwordReset: "Reset your password"
    case .passwordChanged: "Your password was changed"
    case .emailAddressChangeRequested: "Your e-mail address is to be changed"
    case .emailAddressChanged: "Your e-mail address was changed"
    case .phoneNumberChanged: "Your phone number was changed"
    case .secondFactorChanged: "Your second factor was changed"
    }
  }

  /// The text before the code or token and the text after it, with LF at each line's end.
  var text: (before: String, after: String) {
    switch self {
    case .loginCode(_, let lifetime):
      ("Your login code is ", ". It expires in \(Self.words(lifetime)). Never give it to anyone.")
    case .enrolmentCode(_, let lifetime):
      (
        "Your confirmation code is ",
        ". With it, login codes come here. It expires in \(Self.words(lifetime)). Never give it to anyone."
      )
    case .emailVerification(_, let lifetime):
      (
        "To confirm this e-mail address, start `authbroker account verify-email`\nand enter the token: ",
        "\n\nIt expires in \(Self.words(lifetime)). If you have not asked for it, ignore this message."
      )
    case .passwordReset(_, let lifetime):
      (
        "To set a new password, start `authbroker account reset`\nand enter the token: ",
        "\n\nIt expires in \(Self.words(lifetime)). If you have not asked for it, ignore this message:\n"
          + "your password stays as it is."
      )
    case .passwordChanged:
      (
        "The password of your account was changed. If that was not you, set a new one with "
          + "`authbroker account forgot`.", ""
      )
    case .emailAddressChangeRequested:
      (
        "Your account is to get another e-mail address once that is verified. If that was not you, change your "
          + "password with `authbroker account password`.", ""
      )
    case .emailAddressChanged:
      ("Your account has another e-mail address now. If that was not you, tell the administrator.", "")
    case .phoneNumberChanged: (Self.warning("phone number"), "")
    case .secondFactorChanged: (Self.warning("second factor"), "")
    }
  }

  private static func warning(_ subject: String) -> String {
    "The \(subject) of your account was changed. If that was not you, change your password with "
      + "`authbroker account password`."
  }

  /// A lifetime in its largest whole unit, as in `5 minutes`.
  static func words(_ lifetime: Duration) -> String {
    let seconds = lifetime.components.seconds
    let (count, unit) =
      switch seconds {
      case 3600... where seconds % 3600 == 0: (seconds / 3600, "hour")
      case 60... where seconds % 60 == 0: (seconds / 60, "minute")
      default: (seconds, "second")
      }
    return "\(count) \(unit)\(count == 1 ? "" : "s")"
  }
}
