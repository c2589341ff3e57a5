public import JSON

/// A provider's description of the account behind a session.
public struct User: Sendable, Equatable {
  /// The provider's name for the account, unique at that provider.
  public var id: String
  /// The account's e-mail address.
  public var email: String?
  /// Whether the provider has verified the address.
  public var emailVerified: Bool?
  /// The display name.
  public var name: String?
  /// The phone number with all but its last digits masked.
  public var phoneNumberMasked: String?
  /// The second factor that a login asks for beside the password, such as `totp`, or `off`; nil where the provider does
  /// not say.
  public var twoFactor: String?
  /// Roles and further attributes that the provider gives, as one object of 16 KiB at most; asked for again after a
  /// 403.
  public var claims: RawJSON?

  public init(
    id: String, email: String? = nil, emailVerified: Bool? = nil, name: String? = nil,
    phoneNumberMasked: String? = nil, twoFactor: String? = nil, claims: RawJSON? = nil
  ) {
    self.id = id
    self.email = email
    self.emailVerified = emailVerified
    self.name = name
    self.phoneNumberMasked = phoneNumberMasked
    self.twoFactor = twoFactor
    self.claims = claims
  }
}

extension User: ObjectCodable {
  public static let blank = User(id: "")

  @inlinable
  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("id", &id)
    try coder.optional("email", &email)
    try coder.optional("emailVerified", &emailVerified)
    try coder.optional("name", &name)
    try coder.optional("phoneNumberMasked", &phoneNumberMasked)
    try coder.optional("twoFactor", &twoFactor)
    try coder.optional("claims", &claims)
  }
}
