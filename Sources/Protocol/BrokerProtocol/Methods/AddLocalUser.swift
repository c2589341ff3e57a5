public import JSON
public import SecretMemory

/// Creates an account of the embedded provider without a login.
///
/// - Throws: directory, validationFailed, emailTaken, rateLimited.
public enum AddLocalUser: BrokerMethod {
  public static let name = "addLocalUser"

  public typealias Result = LocalUser

  public struct Params: MethodParams, Equatable {
    /// The account's e-mail address.
    public var email: String
    /// The password.
    public var password: Secret
    /// The name to show.
    public var name: String?
    /// The phone number for one-time codes: an account with a phone number logs in with a code.
    public var phoneNumber: String?

    public init(email: String, password: Secret, name: String? = nil, phoneNumber: String? = nil) {
      self.email = email
      self.password = password
      self.name = name
      self.phoneNumber = phoneNumber
    }

    public static let blank = Params(email: "", password: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("email", &email, .text(atMost: ParameterLength.email))
      try coder.required("password", &password, .secret)
      try coder.optional("name", &name, .text(atMost: ParameterLength.name))
      try coder.optional("phoneNumber", &phoneNumber, .text(atMost: ParameterLength.phoneNumber))
    }
  }
}
