import BrokerProtocol
import StateDirectory

/// An account for people.
enum AccountLines {
  /// Prints a line for each thing that is known of the account.
  static func print(_ user: User) {
    Output.line("id     " + PlainText.line(user.id.utf8))
    if let email = user.email { Output.line("email  " + PlainText.line(email.utf8) + state(user.emailVerified)) }
    if let name = user.name { Output.line("name   " + PlainText.line(name.utf8)) }
    if let phone = user.phoneNumberMasked { Output.line("phone  " + PlainText.line(phone.utf8)) }
    if let factor = user.twoFactor { Output.line("2fa    " + words(factor)) }
  }

  private static func words(_ factor: String) -> String {
    LocalUser.SecondFactor(rawValue: factor)?.words ?? PlainText.line(factor.utf8)
  }

  private static func state(_ isVerified: Bool?) -> String {
    switch isVerified {
    case true?: " (verified)"
    case false?: " (not verified)"
    case nil: ""
    }
  }
}
