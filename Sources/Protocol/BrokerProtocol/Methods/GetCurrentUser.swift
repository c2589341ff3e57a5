public import JSON

/// Returns the user of a session, asking the provider where the cached answer is too old.
///
/// - Throws: profile, session, provider, validationFailed.
public enum GetCurrentUser: BrokerMethod {
  public static let name = "getCurrentUser"

  public typealias Result = User

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The greatest age of a cached answer.
    public var maxAge: Duration

    public init(profile: ProfileName? = nil, maxAge: Duration = .seconds(300)) {
      self.profile = profile
      self.maxAge = maxAge
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.defaulted("maxAgeSeconds", &maxAge, .seconds)
    }
  }
}
