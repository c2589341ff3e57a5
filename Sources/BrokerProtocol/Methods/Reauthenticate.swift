public import JSONRPC
public import SecretMemory

/// Has the user of a session prove once more who they are; the session goes on with new tokens.
public enum Reauthenticate: BrokerMethod {
  public static let name = "reauthenticate"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The password; nil for a provider that has its users prove it at another device or in a browser.
    public var password: Secret?

    public init(profile: ProfileName? = nil, password: Secret? = nil) {
      self.profile = profile
      self.password = password
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("password", &password, .secret)
    }
  }
}
