public import JSONRPC
public import SecretMemory

/// Has the user of a session prove once more who they are; the session goes on with new tokens.
public enum Reauthenticate: BrokerMethod {
  /// The name on the wire.
  public static let name = "reauthenticate"

  /// What the answer carries.
  public typealias Result = LoginResult

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "password"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The password; nil for a provider that has its users prove it at another device or in a browser.
    public var password: Secret?

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil, password: Secret? = nil) {
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
      password = try node.optional("password") { node throws(JSONMismatch) in try node.secret() }
    }
  }
}
