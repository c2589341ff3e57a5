public import JSON

/// Deletes an account of the embedded provider, with its sessions and messages; its records in the audit log stay.
///
/// Access tokens that were issued before are good until they expire, unless an API introspects them. No account of that
/// name is validationFailed with user among the fields.
///
/// - Throws: directory, validationFailed.
public enum DeleteLocalUser: BrokerMethod {
  public static let name = "deleteLocalUser"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The account's identifier or e-mail address.
    public var user: String

    public init(user: String) { self.user = user }

    public static let blank = Params(user: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("user", &user, .text(atMost: ParameterLength.email))
    }
  }
}
