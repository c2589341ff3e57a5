public import JSON

/// Asks the provider to send a token for a new password; the answer is the same whether or not the account exists.
///
/// - Throws: profile, provider, validationFailed, missingCredential, tooManyAttempts, captchaRequired.
public enum ForgotPassword: BrokerMethod {
  public static let name = "forgotPassword"
  // A user who asks for this has passwords to try.
  public static let mayCarrySecret = true

  /// Nothing: the answer is the same whether or not the account exists.
  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The account's e-mail address.
    public var email: String

    public init(profile: ProfileName? = nil, email: String) {
      self.profile = profile
      self.email = email
    }

    public static let blank = Params(email: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("email", &email, .text(atMost: ParameterLength.email))
    }
  }
}
