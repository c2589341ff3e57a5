public import JSON

/// Returns the logins that wait for a one-time code or for a user action, of one profile or of all.
///
/// - Throws: profile.
public enum ListPendingLogins: BrokerMethod {
  public static let name = "listPendingLogins"

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means every configured one.
    public var profile: ProfileName?

    public init(profile: ProfileName? = nil) { self.profile = profile }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The logins; a profile has one at most.
    public var logins: [PendingLoginStep]

    public init(logins: [PendingLoginStep]) { self.logins = logins }

    public static let blank = Result(logins: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("logins", &logins)
    }
  }
}
