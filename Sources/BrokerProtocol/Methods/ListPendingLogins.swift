public import JSONRPC

/// Tells which login of a profile waits for its code, or for its user.
public enum ListPendingLogins: BrokerMethod {
  public static let name = "listPendingLogins"

  public typealias Params = ProfileParams

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
