import BrokerProtocol

/// An account for people.
enum AccountLines {
  /// Prints a line for each thing that is known of the account.
  static func print(_ user: User) {
    NamedValues.print([
      ("id", user.id), ("email", user.email.map { $0 + state(user.emailVerified) }), ("name", user.name),
      ("phone", user.phoneNumberMasked), ("second factor", user.twoFactor.map(words)),
    ])
  }

  private static func words(_ factor: String) -> String { LocalUser.SecondFactor(rawValue: factor)?.words ?? factor }

  private static func state(_ isVerified: Bool?) -> String {
    switch isVerified {
    case true?: " (verified)"
    case false?: " (not verified)"
    case nil: ""
    }
  }
}
