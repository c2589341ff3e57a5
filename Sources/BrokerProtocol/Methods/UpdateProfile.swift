public import JSONRPC

/// Changes what the provider knows of the account.
public enum UpdateProfile: BrokerMethod {
  public static let name = "updateProfile"
  // What a provider knows of an account is the provider's business.
  public static let mayCarrySecret = true

  public typealias Result = User

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// What shall change.
    public var changes: ProfileChanges

    public init(profile: ProfileName? = nil, changes: ProfileChanges) {
      self.profile = profile
      self.changes = changes
    }

    public static let blank = Params(changes: ProfileChanges([]))

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("changes", &changes)
    }
  }
}
