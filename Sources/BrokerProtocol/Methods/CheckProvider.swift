public import JSONRPC

/// Looks closely at the provider of one profile: what it says of itself, and what is lost where it says too little.
///
/// Needs no session and no vault. Only requests that change nothing are sent, and none carries a user's credential.
public enum CheckProvider: BrokerMethod {
  public static let name = "checkProvider"

  /// What a request carries: the profile to look at.
  public typealias Params = ProfileParams

  public struct Result: ObjectCodable, Equatable {
    /// The profile.
    public var profile: ProfileName
    /// The type of its provider.
    public var provider: String
    /// How sessions can be begun, the way to take where none is named first.
    public var loginMethods: [String]
    /// What was found, in the order in which it was looked at.
    public var findings: [ProviderFinding]
    /// What a trial with credentials would look at; the message is what it would show.
    public var trial: [ProviderFinding]

    public init(
      profile: ProfileName, provider: String, loginMethods: [String], findings: [ProviderFinding],
      trial: [ProviderFinding]
    ) {
      self.profile = profile
      self.provider = provider
      self.loginMethods = loginMethods
      self.findings = findings
      self.trial = trial
    }

    public static let blank = Result(profile: .default, provider: "", loginMethods: [], findings: [], trial: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profile", &profile)
      try coder.required("provider", &provider)
      try coder.required("loginMethods", &loginMethods)
      try coder.required("findings", &findings)
      try coder.required("trial", &trial)
    }
  }
}
