public import JSONRPC

/// Looks whether the providers of the profiles can be reached.
///
/// Needs no session and no vault, so it works while the vault is locked. Every provider is sent one request that changes
/// nothing and carries no credential; a refusal is an answer like any other.
public enum CheckProviders: BrokerMethod {
  /// The name on the wire.
  public static let name = "checkProviders"

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile"]

    /// The profile to look at; nil means every configured one.
    public var profile: ProfileName?

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil) {
      self.profile = profile
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
    }
  }

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// How every provider is, in the order of the configuration.
    public var providers: [ProviderReport]

    /// A result with its members.
    public init(providers: [ProviderReport]) {
      self.providers = providers
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("providers", providers)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      providers = try [ProviderReport](from: try node.required("providers"))
    }
  }
}
