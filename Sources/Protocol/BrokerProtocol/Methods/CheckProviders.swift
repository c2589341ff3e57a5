public import JSON

/// Checks whether the providers of the profiles can be reached; works while the vault is locked.
///
/// Every provider is sent one request that changes nothing and carries no credential. A provider that cannot be reached
/// is a result, not an error.
///
/// - Throws: unknownProfile, rateLimited.
public enum CheckProviders: BrokerMethod {
  public static let name = "checkProviders"

  public struct Params: MethodParams, Equatable {
    /// The profile to check; every configured one where absent.
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
    /// A report on every provider, in the order of the configuration.
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
