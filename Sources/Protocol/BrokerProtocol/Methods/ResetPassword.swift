public import JSON
public import SecretMemory

/// Sets a new password with the token that the provider sent; sessions that the provider ends with it end here too.
///
/// The token does not name its account, so the sessions of every profile with the same binding are checked, by one
/// refresh or user call each: those that the provider has ended end here with logout{passwordReset}, no other is
/// touched. After a lost reply (retryable false) the token may be used up.
///
/// - Throws: profile, provider, validationFailed, tooManyAttempts, accountLocked, captchaRequired, storeFailed.
public enum ResetPassword: BrokerMethod {
  public static let name = "resetPassword"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The token of the provider's message.
    public var token: Secret
    /// The new password.
    public var password: Secret

    public init(profile: ProfileName? = nil, token: Secret, password: Secret) {
      self.profile = profile
      self.token = token
      self.password = password
    }

    public static let blank = Params(token: .empty, password: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("token", &token, .secret)
      try coder.required("password", &password, .secret)
    }
  }
}
