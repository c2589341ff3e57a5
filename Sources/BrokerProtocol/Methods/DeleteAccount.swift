public import JSONRPC
public import SecretMemory

/// Removes the account at the provider, and its session here.
public enum DeleteAccount: BrokerMethod {
  /// The name on the wire.
  public static let name = "deleteAccount"

  /// What the answer carries.
  public typealias Result = Empty

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "password"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The account's password: nobody deletes an account by mistake.
    public var password: Secret

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil, password: Secret) {
      self.profile = profile
      self.password = password
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member(revealing: "password", password)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      password = try node.required("password").secret()
    }
  }
}
