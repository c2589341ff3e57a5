public import JSONRPC

/// Looks closely at the provider of one profile: what it says of itself, and what is lost where it says too little.
///
/// Needs no session and no vault. Only requests that change nothing are sent, and none carries a user's credential.
public enum CheckProvider: BrokerMethod {
  /// The name on the wire.
  public static let name = "checkProvider"

  /// What a request carries: the profile to look at.
  public typealias Params = ProfileParams

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
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

    /// A result with its members.
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

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("profile", profile)
        writer.member("provider", provider)
        writer.member("loginMethods", loginMethods)
        writer.member("findings", findings)
        writer.member("trial", trial)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try ProfileName(from: try node.required("profile"))
      provider = try node.required("provider").string()
      loginMethods = try [String](from: try node.required("loginMethods"))
      findings = try [ProviderFinding](from: try node.required("findings"))
      trial = try [ProviderFinding](from: try node.required("trial"))
    }
  }
}
