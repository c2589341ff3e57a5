public import JSONRPC

/// Tells whose session it is, asking the provider where the answer is old.
public enum GetCurrentUser: BrokerMethod {
  /// The name on the wire.
  public static let name = "getCurrentUser"

  /// What the answer carries.
  public typealias Result = User

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "maxAgeSeconds"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// How old the answer may be.
    public var maxAge: Duration

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil, maxAge: Duration = .seconds(300)) {
      self.profile = profile
      self.maxAge = maxAge
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.seconds("maxAgeSeconds", maxAge)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      maxAge = try node.optional("maxAgeSeconds") { node throws(JSONMismatch) in try node.seconds() } ?? .seconds(300)
    }
  }
}
