public import JSON
public import SecretMemory

/// Deletes the account at the provider, and its session here; the same user's sessions of other profiles at the
/// provider are checked, and end here if the provider has ended them.
///
/// - Throws: profile, session, provider, invalidCredentials, validationFailed, tooManyAttempts, accountLocked.
public enum DeleteAccount: BrokerMethod {
  public static let name = "deleteAccount"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The account's password, as confirmation.
    public var password: Secret

    public init(profile: ProfileName? = nil, password: Secret) {
      self.profile = profile
      self.password = password
    }

    public static let blank = Params(password: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("password", &password, .secret)
    }
  }
}
