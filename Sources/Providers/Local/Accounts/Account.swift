import BrokerProtocol

/// An account of the embedded provider.
struct Account {
  /// Names it in tokens; never changes.
  var id: String
  /// The e-mail address, by which it logs in.
  var email: String
  /// The name to show.
  var name: String?
  /// The phone number for codes by SMS.
  var phone: PhoneNumber?
  /// The text form of its password's hash.
  var passwordHash: [UInt8]
  /// The second factor that its user has chosen; it counts as ``provenFactor`` says.
  var secondFactor: SecondFactor
  /// When it was made.
  var createdAt: Timestamp
  /// When its address was shown to be its owner's; nil where it was not.
  var emailVerifiedAt: Timestamp?
  /// When a code that was sent to its phone number came back; nil where none has.
  var phoneVerifiedAt: Timestamp?
  /// When the owner of the state directory disabled it; nil where it may log in.
  var disabledAt: Timestamp?

  /// The second factor in use: a code goes only to a destination that has returned one, or a mistyped number would keep
  /// its user out, and another's would keep getting codes.
  var provenFactor: SecondFactor {
    switch secondFactor {
    case .sms where phone == nil || phoneVerifiedAt == nil, .email where emailVerifiedAt == nil: .off
    case .off, .sms, .email, .totp: secondFactor
    }
  }

  /// The user as others may see it.
  var user: User {
    User(
      id: id, email: email, emailVerified: emailVerifiedAt != nil, name: name, phoneNumberMasked: phone?.masked,
      twoFactor: provenFactor.rawValue)
  }

  /// The policy for its passwords.
  var passwordPolicy: PasswordPolicy { PasswordPolicy(hasSecondFactor: provenFactor != .off) }
}
