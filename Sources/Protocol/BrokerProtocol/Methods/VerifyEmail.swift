public import JSON
public import SecretMemory

/// Confirms an e-mail address with the token that the provider sent to it.
///
/// - Throws: profile, provider, validationFailed, emailTaken, tooManyAttempts, captchaRequired.
public enum VerifyEmail: BrokerMethod {
  public static let name = "verifyEmail"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The token of the provider's message.
    public var token: Secret

    public init(profile: ProfileName? = nil, token: Secret) {
      self.profile = profile
      self.token = token
    }

    public static let blank = Params(token: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("token", &token, .secret)
    }
  }
}
