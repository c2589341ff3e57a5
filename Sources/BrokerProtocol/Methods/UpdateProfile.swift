public import JSONRPC

/// Changes what the provider knows of the account.
public enum UpdateProfile: BrokerMethod {
  /// The name on the wire.
  public static let name = "updateProfile"

  /// What the answer carries.
  public typealias Result = User

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "changes"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// What shall change.
    public var changes: ProfileChanges

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil, changes: ProfileChanges) {
      self.profile = profile
      self.changes = changes
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member("changes", changes)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      changes = try ProfileChanges(from: try node.required("changes"))
    }
  }
}
