public import JSONRPC
public import SecretMemory

/// Sets a new password for whoever knows the old one.
public enum ChangePassword: BrokerMethod {
  /// The name on the wire.
  public static let name = "changePassword"

  /// What the answer carries.
  public typealias Result = Empty

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "oldPassword", "newPassword"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The password of now.
    public var oldPassword: Secret
    /// The password from now on.
    public var newPassword: Secret

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil, oldPassword: Secret, newPassword: Secret) {
      self.profile = profile
      self.oldPassword = oldPassword
      self.newPassword = newPassword
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member(revealing: "oldPassword", oldPassword)
        writer.member(revealing: "newPassword", newPassword)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      oldPassword = try node.required("oldPassword").secret()
      newPassword = try node.required("newPassword").secret()
    }
  }
}
