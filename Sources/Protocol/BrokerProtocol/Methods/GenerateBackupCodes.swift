public import JSON
public import SecretMemory

/// Makes new backup codes for a user who gives the password; the earlier ones end.
///
/// - Throws: profile, session, provider, invalidCredentials, tooManyAttempts, accountLocked.
public enum GenerateBackupCodes: BrokerMethod {
  public static let name = "generateBackupCodes"

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The password.
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

  public struct Result: ObjectCodable, Equatable {
    /// The codes; each works once, and none is ever told again.
    public var backupCodes: [Secret]

    public init(backupCodes: [Secret]) { self.backupCodes = backupCodes }

    public static let blank = Result(backupCodes: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("backupCodes", &backupCodes, .list(of: .secret))
    }
  }
}
