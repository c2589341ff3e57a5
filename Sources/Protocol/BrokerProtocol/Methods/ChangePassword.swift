public import JSON
public import SecretMemory

/// Sets a new password for a user who gives the current one; the session continues.
///
/// - Throws: profile, session, provider, invalidCredentials, validationFailed, tooManyAttempts, accountLocked.
public enum ChangePassword: BrokerMethod {
  public static let name = "changePassword"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The current password.
    public var oldPassword: Secret
    /// The new password.
    public var newPassword: Secret

    public init(profile: ProfileName? = nil, oldPassword: Secret, newPassword: Secret) {
      self.profile = profile
      self.oldPassword = oldPassword
      self.newPassword = newPassword
    }

    public static let blank = Params(oldPassword: .empty, newPassword: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("oldPassword", &oldPassword, .secret)
      try coder.required("newPassword", &newPassword, .secret)
    }
  }
}
