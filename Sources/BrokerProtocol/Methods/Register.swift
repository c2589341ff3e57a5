public import JSONRPC
public import SecretMemory

/// Makes an account at the provider and logs in.
public enum Register: BrokerMethod {
  /// The name on the wire.
  public static let name = "register"

  /// What the answer carries.
  public typealias Result = LoginResult

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "email", "password", "name", "phoneNumber"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The account's e-mail address.
    public var email: String
    /// The password.
    public var password: Secret
    /// The name to show.
    public var name: String?
    /// Where one-time codes go.
    public var phoneNumber: String?

    /// Params with the members that a caller gives.
    public init(
      profile: ProfileName? = nil, email: String, password: Secret, name: String? = nil, phoneNumber: String? = nil
    ) {
      self.profile = profile
      self.email = email
      self.password = password
      self.name = name
      self.phoneNumber = phoneNumber
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member("email", email)
        writer.member(revealing: "password", password)
        writer.member(ifPresent: "name", name)
        writer.member(ifPresent: "phoneNumber", phoneNumber)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      email = try node.required("email").string(atMost: ParameterLength.email)
      password = try node.required("password").secret()
      name = try node.optional("name") { node throws(JSONMismatch) in
        try node.string(atMost: ParameterLength.name)
      }
      phoneNumber = try node.optional("phoneNumber") { node throws(JSONMismatch) in
        try node.string(atMost: ParameterLength.phoneNumber)
      }
    }
  }
}
