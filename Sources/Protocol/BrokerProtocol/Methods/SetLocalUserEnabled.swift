public import JSON

/// Lets an account of the embedded provider log in, or keeps it from that; disabling it revokes its sessions.
///
/// Access tokens that were issued before are good until they expire, unless an API introspects them. No account of that
/// name is validationFailed with user among the fields.
///
/// - Throws: directory, validationFailed.
public enum SetLocalUserEnabled: BrokerMethod {
  public static let name = "setLocalUserEnabled"

  public typealias Result = LocalUser

  public struct Params: MethodParams, Equatable {
    /// The account's identifier or e-mail address.
    public var user: String
    /// Whether it may log in.
    public var isEnabled: Bool

    public init(user: String, isEnabled: Bool) {
      self.user = user
      self.isEnabled = isEnabled
    }

    public static let blank = Params(user: "", isEnabled: false)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("user", &user, .text(atMost: ParameterLength.email))
      try coder.required("enabled", &isEnabled)
    }
  }
}
