public import JSON

/// An account of the embedded provider, as the owner of the state directory sees it.
public struct LocalUser: Sendable, Equatable {
  /// The second factor that a login asks for beside the password.
  public enum SecondFactor: String, Sendable, CaseIterable {
    /// Nothing.
    case off
    /// A code by text message.
    case sms
    /// A code by e-mail.
    case email
    /// A code of an authenticator application (RFC 6238).
    case totp
  }

  /// Names the account in tokens; never changes.
  public var id: String
  /// The address that it logs in with.
  public var email: String
  /// Whether the address was confirmed.
  public var emailVerified: Bool
  /// The display name.
  public var name: String?
  /// The phone number with all but its last digits masked.
  public var phoneNumberMasked: String?
  /// The second factor that a login asks for beside the password.
  public var twoFactor: SecondFactor
  /// Whether the account may not log in.
  public var isDisabled: Bool
  /// When the account was created.
  public var createdAt: Timestamp
  /// How many sessions it has that can still be refreshed.
  public var sessionCount: Int

  public init(
    id: String, email: String, emailVerified: Bool, name: String? = nil, phoneNumberMasked: String? = nil,
    twoFactor: SecondFactor, isDisabled: Bool, createdAt: Timestamp, sessionCount: Int
  ) {
    self.id = id
    self.email = email
    self.emailVerified = emailVerified
    self.name = name
    self.phoneNumberMasked = phoneNumberMasked
    self.twoFactor = twoFactor
    self.isDisabled = isDisabled
    self.createdAt = createdAt
    self.sessionCount = sessionCount
  }
}

extension LocalUser: ObjectCodable {
  public static let blank = LocalUser(
    id: "", email: "", emailVerified: false, twoFactor: .off, isDisabled: false, createdAt: .epoch, sessionCount: 0)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("id", &id)
    try coder.required("email", &email)
    try coder.required("emailVerified", &emailVerified)
    try coder.optional("name", &name)
    try coder.optional("phoneNumberMasked", &phoneNumberMasked)
    try coder.required("twoFactor", &twoFactor, .name("a known second factor"))
    try coder.required("disabled", &isDisabled)
    try coder.required("createdAt", &createdAt)
    try coder.required("sessions", &sessionCount, .count)
  }
}
