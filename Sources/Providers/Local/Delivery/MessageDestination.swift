import BrokerProtocol

/// The destination of an account's messages.
struct MessageDestination {
  /// The phone number or e-mail address.
  let address: String
  /// The same as it may be shown before the login is complete: enough for its owner to recognise, and no more.
  let masked: String
  /// Whether it was shown to be its account's owner's.
  let isVerified: Bool
}

extension Account {
  /// The destination for a method; nil where the account has no such address, or nothing is sent.
  func destination(_ method: OTPChallenge.Method) -> MessageDestination? {
    switch method {
    case .sms:
      phone.map {
        MessageDestination(address: $0.text, masked: $0.masked, isVerified: phoneVerifiedAt != nil)
      }
    case .email:
      MessageDestination(
        address: email, masked: Self.masked(email: email), isVerified: emailVerifiedAt != nil)
    case .totp: nil
    }
  }

  /// The first character and the domain, as in `a•••@example.com`.
  private static func masked(email: String) -> String {
    let at = email.lastIndex(of: "@") ?? email.endIndex
    return "\(email.prefix(1))•••\(email[at...])"
  }
}
