public import JSONRPC

/// Looks whether the providers of the profiles can be reached.
///
/// Needs no session and no vault, so it works while the vault is locked. Every provider is sent one request that changes
/// nothing and carries no credential; a refusal is an answer like any other.
public enum CheckProviders: BrokerMethod {
  public static let name = "checkProviders"

  public struct Params: MethodParams, Equatable {
    /// The profile to look at; nil means every configured one.
    public var profile: ProfileName?

    public init(profile: ProfileName? = nil) {
      self.profile = profile
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// How every provider is, in the order of the configuration.
    public var providers: [ProviderReport]

    public init(providers: [ProviderReport]) {
      self.providers = providers
    }

    public static let blank = Result(providers: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("providers", &providers)
    }
  }
}
