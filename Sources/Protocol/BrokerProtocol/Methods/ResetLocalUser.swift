public import JSON
public import SecretMemory

/// Gives an account of the embedded provider a new password, or removes its second factor.
///
/// For a user who has lost them. All sessions of the account end, and its user is told by e-mail. One of password and
/// removeSecondFactor must be given. What cannot be is validationFailed with the fields: user, password, or both
/// parameters where neither is given.
///
/// - Throws: directory, validationFailed.
public enum ResetLocalUser: BrokerMethod {
  public static let name = "resetLocalUser"

  public typealias Result = LocalUser

  public struct Params: MethodParams, Equatable {
    /// The account's identifier or e-mail address.
    public var user: String
    /// The new password; absent, the present one stays.
    public var password: Secret?
    /// Whether the second factor and its backup codes are removed.
    public var removesSecondFactor: Bool

    public init(user: String, password: Secret? = nil, removesSecondFactor: Bool = false) {
      self.user = user
      self.password = password
      self.removesSecondFactor = removesSecondFactor
    }

    public static let blank = Params(user: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("user", &user, .text(atMost: ParameterLength.email))
      try coder.optional("password", &password, .secret)
      try coder.optional("removeSecondFactor", &removesSecondFactor, absent: false)
    }
  }
}
