public import JSONRPC

/// Asks the provider to send a token for a new password.
public enum ForgotPassword: BrokerMethod {
  /// The name on the wire.
  public static let name = "forgotPassword"

  /// Nothing: the same whether there is such an account or not.
  public typealias Result = Empty

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "email"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The account's e-mail address.
    public var email: String

    /// Params with the members that a caller gives.
    public init(profile: ProfileName? = nil, email: String) {
      self.profile = profile
      self.email = email
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member("email", email)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      email = try node.required("email").string(atMost: ParameterLength.email)
    }
  }
}
