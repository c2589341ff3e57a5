public import JSON

/// Checks the provider of one profile in detail, and lists what a trial would check; works while the vault is locked.
///
/// Only requests that change nothing are sent (GET and OPTIONS; for Firebase one lookup with an invalid token; for
/// OpenID Connect one token request with a refresh token that was never issued, which tells whether the provider
/// accepts the client), and no user's credential. A provider that cannot be reached is a finding, not an error.
///
/// - Throws: unknownProfile, rateLimited.
public enum CheckProvider: BrokerMethod {
  public static let name = "checkProvider"

  /// The parameters: the profile to check.
  public typealias Params = ProfileParams

  public struct Result: ObjectCodable, Equatable {
    /// The profile.
    public var profile: ProfileName
    /// The type of its provider.
    public var provider: String
    /// The login methods, the default first, as in the parameter method of login.
    public var loginMethods: [String]
    /// The provider's abilities beside logins, as in capabilities.providers of initialize; empty from a broker that
    /// does not say.
    public var methods: [String]
    /// The findings, in the order in which they were checked.
    public var findings: [ProviderFinding]
    /// The checks of tryProvider; the message says what each would show.
    public var trial: [ProviderFinding]

    public init(
      profile: ProfileName, provider: String, loginMethods: [String], methods: [String] = [],
      findings: [ProviderFinding], trial: [ProviderFinding]
    ) {
      self.profile = profile
      self.provider = provider
      self.loginMethods = loginMethods
      self.methods = methods
      self.findings = findings
      self.trial = trial
    }

    public static let blank = Result(profile: .default, provider: "", loginMethods: [], findings: [], trial: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profile", &profile)
      try coder.required("provider", &provider)
      try coder.required("loginMethods", &loginMethods)
      try coder.defaulted("methods", &methods)
      try coder.required("findings", &findings)
      try coder.required("trial", &trial)
    }
  }
}
