public import JSON

/// Logs out: ends sessions here at once, and revokes them at the provider where it answers.
///
/// With all, sessions of profiles that have left the configuration end too, and are among the results; they are revoked
/// by a configured profile with the same binding, else their serverRevoked is unsupported.
///
/// - Throws: profile, accessDenied, storeFailed.
public enum Logout: BrokerMethod {
  public static let name = "logout"

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// Whether to end the user's other sessions at the provider too.
    public var everywhere: Bool
    /// Whether to end the sessions of every profile.
    public var all: Bool

    public init(profile: ProfileName? = nil, everywhere: Bool = false, all: Bool = false) {
      self.profile = profile
      self.everywhere = everywhere
      self.all = all
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.defaulted("everywhere", &everywhere)
      try coder.defaulted("all", &all)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The outcome for each profile.
    public var results: [LogoutOutcome]

    public init(results: [LogoutOutcome]) {
      self.results = results
    }

    public static let blank = Result(results: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("results", &results)
    }
  }
}

/// The outcome of a logout for one profile's session at its provider.
public struct LogoutOutcome: ObjectCodable, Equatable {
  /// Whether the provider revoked the session.
  public enum ServerRevoked: String, Sendable, CaseIterable {
    case yes, no, pending, unsupported
  }

  /// The profile.
  public var profile: ProfileName
  /// Whether the provider revoked the session; with pending, it is asked again until it has answered or a day has
  /// passed.
  public var serverRevoked: ServerRevoked

  public init(profile: ProfileName, serverRevoked: ServerRevoked) {
    self.profile = profile
    self.serverRevoked = serverRevoked
  }

  public static let blank = LogoutOutcome(profile: .default, serverRevoked: .no)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("profile", &profile)
    try coder.required("serverRevoked", &serverRevoked, .name("a known outcome"))
  }
}
