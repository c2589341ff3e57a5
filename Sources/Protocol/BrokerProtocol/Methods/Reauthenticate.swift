public import JSON
public import SecretMemory

/// Authenticates the user of a session again; the session continues with new tokens.
///
/// - Throws: profile, login, provider, loginRequired, accessDenied.
public enum Reauthenticate: BrokerMethod {
  public static let name = "reauthenticate"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The password; nil for a provider whose users authenticate at another device or in a browser.
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
