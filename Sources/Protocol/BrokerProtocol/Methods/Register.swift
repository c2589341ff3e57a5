public import JSON
public import SecretMemory

/// Creates an account at the provider and logs in.
///
/// - Throws: profile, login, provider, emailTaken.
public enum Register: BrokerMethod {
  public static let name = "register"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The account's e-mail address.
    public var email: String
    /// The password.
    public var password: Secret
    /// The display name.
    public var name: String?
    /// The phone number that receives one-time codes.
    public var phoneNumber: String?

    public init(
      profile: ProfileName? = nil, email: String, password: Secret, name: String? = nil, phoneNumber: String? = nil
    ) {
      self.profile = profile
      self.email = email
      self.password = password
      self.name = name
      self.phoneNumber = phoneNumber
    }

    public static let blank = Params(email: "", password: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("email", &email, .text(atMost: ParameterLength.email))
      try coder.required("password", &password, .secret)
      try coder.optional("name", &name, .text(atMost: ParameterLength.name))
      try coder.optional("phoneNumber", &phoneNumber, .text(atMost: ParameterLength.phoneNumber))
    }
  }
}
