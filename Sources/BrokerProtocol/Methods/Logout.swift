public import JSONRPC

/// Ends sessions: here at once, at the provider as far as it answers.
public enum Logout: BrokerMethod {
  /// The name on the wire.
  public static let name = "logout"

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "everywhere", "all"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// Whether to end the user's other sessions at the provider too.
    public var everywhere: Bool
    /// Whether to end the sessions of every profile.
    public var all: Bool

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil, everywhere: Bool = false, all: Bool = false) {
      self.profile = profile
      self.everywhere = everywhere
      self.all = all
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member("everywhere", everywhere)
        writer.member("all", all)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      everywhere = try node.optional("everywhere", Bool.init(from:)) ?? false
      all = try node.optional("all", Bool.init(from:)) ?? false
    }
  }

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// What became of each profile.
    public var results: [LogoutOutcome]

    /// A result with its members.
    public init(results: [LogoutOutcome]) {
      self.results = results
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("results", results)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      results = try [LogoutOutcome](from: try node.required("results"))
    }
  }
}

/// What became of one profile's session at its provider.
public struct LogoutOutcome: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// Whether the provider revoked the session.
  public enum ServerRevoked: String, Sendable, CaseIterable {
    case yes, no, pending, unsupported
  }

  /// The profile.
  public var profile: ProfileName
  /// Whether the provider revoked the session.
  public var serverRevoked: ServerRevoked

  /// The outcome of one profile.
  public init(profile: ProfileName, serverRevoked: ServerRevoked) {
    self.profile = profile
    self.serverRevoked = serverRevoked
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("profile", profile)
      writer.member("serverRevoked", serverRevoked.rawValue)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    profile = try ProfileName(from: try node.required("profile"))
    let revoked = try node.required("serverRevoked")
    guard let value = ServerRevoked(rawValue: try revoked.string()) else { throw revoked.mismatch("a known outcome") }
    serverRevoked = value
  }
}
