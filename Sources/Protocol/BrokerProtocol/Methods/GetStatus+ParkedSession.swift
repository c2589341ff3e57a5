public import JSON

extension GetStatus {
  /// A session that a change of the configuration has signed out, and that comes back when the configuration is as before.
  public struct ParkedSession: ObjectCodable, Equatable {
    /// The profile.
    public var profile: ProfileName
    /// The type of the provider that it was configured with.
    public var provider: String
    /// When the session ends for good.
    public var until: Timestamp

    public init(profile: ProfileName, provider: String, until: Timestamp) {
      self.profile = profile
      self.provider = provider
      self.until = until
    }

    public static let blank = ParkedSession(profile: .default, provider: "", until: .epoch)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profile", &profile)
      try coder.required("provider", &provider)
      try coder.required("until", &until)
    }
  }
}
