public import JSONRPC
public import SecretMemory

/// Sets a new password with the token that the provider sent; the user's sessions end.
public enum ResetPassword: BrokerMethod {
  /// The name on the wire.
  public static let name = "resetPassword"

  /// What the answer carries.
  public typealias Result = Empty

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "token", "password"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The token of the provider's message.
    public var token: Secret
    /// The new password.
    public var password: Secret

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil, token: Secret, password: Secret) {
      self.profile = profile
      self.token = token
      self.password = password
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member(revealing: "token", token)
        writer.member(revealing: "password", password)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      token = try node.required("token").secret()
      password = try node.required("password").secret()
    }
  }
}
